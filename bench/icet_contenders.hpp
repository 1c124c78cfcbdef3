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
    /// Rewrites this rank's image in place, so that it is in the cache as after rendering.
    virtual void redraw() = 0;
    virtual void frame() = 0;
    virtual void close() = 0;
    /// The colours of the last frame, as floats. Only on rank 0, which collects the image.
    virtual std::vector<float> picture() const = 0;
};

/// A transport, and this rank's image in memory that the transport can read.
struct Carrier {
    std::string name;
    Communicator communicator;
    std::span<std::byte> image;
};

/// Sextant's compositor, with the configuration chosen by `auto`. `image` must outlive it; the
/// carrier has the same image or a copy of it.
std::unique_ptr<Contender> ours(const Carrier& carrier, const lab::CompositeCase& what,
                                const Image& image);

/// A rank's image in IceT's format: separate arrays of colours and depths, with depths of at
/// most 1.
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

/// The names of IceT's single-image strategies.
std::vector<std::string> icet_strategies();

/// IceT's compositor with one of icet_strategies(). `planes` must outlive it.
std::unique_ptr<Contender> icet(MPI_Comm comm, const lab::CompositeCase& what, Planes& planes,
                                const std::string& strategy);

} // namespace sextant::bench
