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

/// A collective operation of MPI, prepared once and run repeatedly: a baseline for schedules.
class PreparedCall {
  public:
    virtual ~PreparedCall() = default;
    /// Runs the operation.
    /// Input     this rank's data, with the number of elements passed to `prepare`; empty if the
    ///           rank contributes none.
    /// Collective.
    virtual void run(std::span<const std::byte> own) = 0;
    /// Returns this rank's result after a run.
    virtual std::span<const std::byte> result() const = 0;
};

/// An element-wise reduction across ranks, in rank order, by MPI calls instead of a schedule. With
/// a root, the result is the whole reduction on the root; without a root, block i of p is on rank
/// i.
struct Baseline {
    std::string_view name;
    /// Prepares a reduction.
    /// Input     the root, or -1 to leave the result distributed.
    /// Collective.
    std::unique_ptr<PreparedCall> (*prepare)(const Communicator& communicator, const Operator& op,
                                             Elements elements, int root);
};

/// Returns MPI's reductions with Sextant's kernel as the user-defined operator, and direct send
/// with MPI_Alltoallv or non-blocking calls. Empty if the communicator runs on threads. For
/// benchmarks only: these calls block and may busy-wait.
std::span<const Baseline> mpi_baselines(const Communicator& communicator);

/// An element-wise scan across ranks by an MPI call instead of a schedule. The result is this
/// rank's prefix; empty on rank 0 of an exclusive scan.
struct ScanBaseline {
    std::string_view name;
    bool exclusive;
    /// Prepares a scan of `elements` elements per rank. Collective.
    std::unique_ptr<PreparedCall> (*prepare)(const Communicator& communicator, const Operator& op,
                                             Elements elements);
};

/// Returns MPI's four scans with Sextant's operator as the user-defined operator. Empty if the
/// communicator runs on threads. For benchmarks only: the blocking scans may busy-wait.
std::span<const ScanBaseline> mpi_scan_baselines(const Communicator& communicator);

/// A collective operation by an MPI call instead of a schedule. The input is this rank's image or
/// tile, row by row. The result is the data that this rank receives, row by row; empty on rank 0 of
/// a scatter or broadcast, where the data remain in the input.
struct CollectiveBaseline {
    std::string_view name;
    CollectiveKind what;
    /// Returns true if the MPI call supports the tiles of this grid and all counts fit into an int.
    bool (*takes)(const Grid& grid);
    /// Prepares the operation.
    /// Input     a grid whose elements are bytes.
    /// Collective.
    std::unique_ptr<PreparedCall> (*prepare)(const Communicator& communicator, const Grid& grid);
};

/// Returns MPI's collectives for contiguous tiles; for tiles narrower than the image, those with
/// one derived datatype for all tiles or one per tile (MPI_Alltoallw). Empty if the communicator
/// runs on threads. For benchmarks only: these calls block and may busy-wait.
std::span<const CollectiveBaseline> mpi_collectives(const Communicator& communicator);

} // namespace sextant::lab
