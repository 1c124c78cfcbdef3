// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/collective/catalogue.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/core/operator.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace sextant {

/// A reduction of the ranks' elements, in rank order, that is prepared once and run often: what
/// schedules are measured against.
class Reduction {
  public:
    virtual ~Reduction() = default;
    /// Input     this rank's elements, as many as prepared for.
    /// Collective.
    virtual void run(std::span<const std::byte> elements) = 0;
    /// After a run: the whole at the root, or this rank's piece i of p where there is no root.
    virtual std::span<const std::byte> result() const = 0;
};

/// A way to reduce without a schedule: one row each.
struct Baseline {
    std::string_view name;
    std::string_view summary;
    /// Input     the root, or -1 to leave the pieces where they are.
    /// Collective.
    std::unique_ptr<Reduction> (*prepare)(const Communicator& communicator, const Operator& op,
                                          Elements elements, int root);
};

/// What MPI offers: its reductions with our kernel as the user operator, and direct send as one
/// writes it over MPI_Alltoallv or with non-blocking calls. Empty where a communicator runs on
/// threads. These calls block, and may spin: for benchmarks, not for use.
std::span<const Baseline> mpi_baselines(const Communicator& communicator);

/// A scan of the ranks' elements, each across the ranks on its own, that is prepared once and run
/// often: what schedules are measured against.
class PreparedScan {
  public:
    virtual ~PreparedScan() = default;
    /// Input     this rank's elements, as many as prepared for.
    /// Collective.
    virtual void run(std::span<const std::byte> elements) = 0;
    /// After a run; nothing on rank 0 of an exclusive scan.
    virtual std::span<const std::byte> result() const = 0;
};

/// A way to scan without a schedule: one row each.
struct ScanBaseline {
    std::string_view name;
    std::string_view summary;
    bool exclusive;
    /// Collective.
    std::unique_ptr<PreparedScan> (*prepare)(const Communicator& communicator, const Operator& op,
                                             Elements elements);
};

/// What MPI offers: its four scans with our operator as the user's. Empty where a communicator
/// runs on threads. The blocking ones may spin: for benchmarks, not for use.
std::span<const ScanBaseline> mpi_scan_baselines(const Communicator& communicator);

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
