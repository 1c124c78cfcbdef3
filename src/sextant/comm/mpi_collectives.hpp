// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/collective.hpp"
#include "sextant/core/grid.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace sextant {

/// A collective that is prepared once and run often: what schedules are measured against.
class PreparedCollective {
  public:
    virtual ~PreparedCollective() = default;
    /// Input     what this rank has: the image or its tile, row by row, or nothing.
    /// Collective.
    virtual void run(std::span<const std::byte> own) = 0;
    /// After a run: what this rank received, row by row. Nothing at rank 0 of a scatter or
    /// broadcast, which leaves there what was there.
    virtual std::span<const std::byte> result() const = 0;
};

/// A way to do a collective without a schedule: one row each.
struct CollectiveBaseline {
    std::string_view name;
    std::string_view summary;
    Collective what;
    /// Whether it can deal such tiles, and counts that fit into an int.
    bool (*takes)(const Grid& grid);
    /// Input     a grid whose elements are bytes. Collective.
    std::unique_ptr<PreparedCollective> (*prepare)(const Communicator& communicator,
                                                   const Grid& grid);
};

/// What MPI offers: its collectives on tiles that lie in one piece; on tiles that are narrower than
/// their image by a derived datatype for all of them, or for each its own (MPI_Alltoallw). Empty
/// where a communicator runs on threads. These calls block, and may spin: for benchmarks, not for
/// use.
std::span<const CollectiveBaseline> mpi_collectives(const Communicator& communicator);

} // namespace sextant
