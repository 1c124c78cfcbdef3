// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/image.hpp"
#include "sextant/lab/bench_cases.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <mpi.h>

// The ways to composite that bench_icet holds against each other.
namespace sextant::bench {

/// One way to composite a case: what a block begins with, a frame, and its end.
class Way {
  public:
    virtual ~Way() = default;
    virtual std::string name() const = 0;
    virtual void open() = 0;
    /// Writes this rank's image anew, as if it had just been drawn.
    virtual void draw_anew() = 0;
    virtual void frame() = 0;
    virtual void close() = 0;
    /// After a frame that rank 0 collected, there: its colours, as floats.
    virtual std::vector<float> picture() const = 0;
};

/// How our ranks exchange, and where the image lies that they are given.
struct Carrier {
    std::string name;
    Communicator communicator;
    std::span<std::byte> image;
};

/// Ours: what `auto` chooses.
/// Requires  `image`, of which a carrier's is a copy or itself, to outlive the way.
std::unique_ptr<Way> ours(const Carrier& carrier, const command::CompositeCase& what,
                          const Image& image);

/// A rank's image as IceT takes it: colours and depths apart, the farthest of them 1.
class Planes {
  public:
    explicit Planes(const Image& image);

    void draw_anew();
    const void* colour() const { return colour_.data(); }
    const void* depth() const { return depth_.empty() ? nullptr : depth_.data(); }
    bool bytes() const { return bytes_; }

  private:
    bool bytes_;
    std::vector<std::byte> colour_;
    std::vector<float> depth_;
};

/// IceT's single-image strategies.
std::vector<std::string> icet_strategies();

/// One of them.
/// Requires  `planes` to outlive the way.
std::unique_ptr<Way> icet(MPI_Comm comm, const command::CompositeCase& what, Planes& planes,
                          const std::string& strategy);

} // namespace sextant::bench
