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

// The compositing configurations that bench_icet compares.
namespace sextant::bench {

/// One configuration for a case; a block calls open(), frame() several times, and close().
class Contender {
  public:
    virtual ~Contender() = default;
    virtual std::string name() const = 0;
    virtual void open() = 0;
    /// Writes this rank's image again, as if it had just been rendered.
    virtual void redraw() = 0;
    virtual void frame() = 0;
    virtual void close() = 0;
    /// The colours of the last frame, as floats, at rank 0, which collected it.
    virtual std::vector<float> picture() const = 0;
};

/// A transport of our ranks, and the image in memory for it.
struct Carrier {
    std::string name;
    Communicator communicator;
    std::span<std::byte> image;
};

/// Ours, with the configuration chosen by `auto`. `image`, of which the carrier's is a copy or
/// which is the carrier's, must outlive it.
std::unique_ptr<Contender> ours(const Carrier& carrier, const lab::CompositeCase& what,
                                const Image& image);

/// A rank's image in IceT's format: separate colours and depths, with the largest depth 1.
class Planes {
  public:
    explicit Planes(const Image& image);

    void redraw();
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

/// One of these strategies. `planes` must outlive it.
std::unique_ptr<Contender> icet(MPI_Comm comm, const lab::CompositeCase& what, Planes& planes,
                                const std::string& strategy);

} // namespace sextant::bench
