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

namespace sextant::lab {

/// An element-wise reduction across ranks, in rank order, prepared once and run often: a baseline
/// to compare schedules with.
class Reduction {
  public:
    virtual ~Reduction() = default;
    /// Input: this rank's elements, in the number passed to `prepare`. Collective.
    virtual void run(std::span<const std::byte> elements) = 0;
    /// After a run: the whole result at the root; without a root, block i of p on rank i.
    virtual std::span<const std::byte> result() const = 0;
};

/// A reduction by MPI calls instead of a schedule.
struct Baseline {
    std::string_view name;
    std::string_view summary;
    /// Input: the root, or -1 to leave the result distributed. Collective.
    std::unique_ptr<Reduction> (*prepare)(const Communicator& communicator, const Operator& op,
                                          Elements elements, int root);
};

/// MPI's reductions with Sextant's kernel as the user-defined operator, and direct send with
/// MPI_Alltoallv or non-blocking calls. Empty if the communicator runs on threads. For benchmarks
/// only: these calls block and may busy-wait.
std::span<const Baseline> mpi_baselines(const Communicator& communicator);

/// An element-wise scan across ranks, prepared once and run often: a baseline to compare schedules
/// with.
class PreparedScan {
  public:
    virtual ~PreparedScan() = default;
    /// Input: this rank's elements, in the number passed to `prepare`. Collective.
    virtual void run(std::span<const std::byte> elements) = 0;
    /// After a run: this rank's prefix; empty on rank 0 of an exclusive scan.
    virtual std::span<const std::byte> result() const = 0;
};

/// A scan by an MPI call instead of a schedule.
struct ScanBaseline {
    std::string_view name;
    std::string_view summary;
    bool exclusive;
    /// Prepares a scan of `elements` elements per rank. Collective.
    std::unique_ptr<PreparedScan> (*prepare)(const Communicator& communicator, const Operator& op,
                                             Elements elements);
};

/// MPI's four scans with Sextant's operator as the user-defined operator. Empty if the communicator
/// runs on threads. For benchmarks only: the blocking scans may busy-wait.
std::span<const ScanBaseline> mpi_scan_baselines(const Communicator& communicator);

/// A collective operation, prepared once and run often: a baseline to compare schedules with.
class PreparedCollective {
  public:
    virtual ~PreparedCollective() = default;
    /// Input: this rank's image or tile, row by row; empty if the rank contributes no data.
    /// Collective.
    virtual void run(std::span<const std::byte> own) = 0;
    /// After a run: the data received by this rank, row by row. Empty on rank 0 of a scatter or
    /// broadcast, whose data stays in the input.
    virtual std::span<const std::byte> result() const = 0;
};

/// A collective operation by an MPI call instead of a schedule.
struct CollectiveBaseline {
    std::string_view name;
    std::string_view summary;
    CollectiveKind what;
    /// True if the MPI call supports the tiles of this grid and all counts fit in an int.
    bool (*takes)(const Grid& grid);
    /// Input: a grid whose elements are bytes. Collective.
    std::unique_ptr<PreparedCollective> (*prepare)(const Communicator& communicator,
                                                   const Grid& grid);
};

/// MPI's collectives for contiguous tiles; and, for tiles narrower than the image, with one derived
/// datatype for all tiles or one per tile (MPI_Alltoallw). Empty if the communicator runs on
/// threads. For benchmarks only: these calls block and may busy-wait.
std::span<const CollectiveBaseline> mpi_collectives(const Communicator& communicator);

} // namespace sextant::lab
