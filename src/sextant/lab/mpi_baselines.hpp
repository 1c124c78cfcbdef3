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

/// A reduction of the ranks' elements, in rank order, prepared once and run often: a baseline for
/// schedules.
class Reduction {
  public:
    virtual ~Reduction() = default;
    /// Input: this rank's elements, as many as prepared for. Collective.
    virtual void run(std::span<const std::byte> elements) = 0;
    /// After a run: the whole result at the root, or piece i of p on rank i if there is no root.
    virtual std::span<const std::byte> result() const = 0;
};

/// A reduction without a schedule.
struct Baseline {
    std::string_view name;
    std::string_view summary;
    /// Input: the root, or -1 to leave the result distributed. Collective.
    std::unique_ptr<Reduction> (*prepare)(const Communicator& communicator, const Operator& op,
                                          Elements elements, int root);
};

/// MPI's reductions with our kernel as the user operator, and direct send with MPI_Alltoallv or
/// non-blocking calls. Empty if the communicator runs on threads. For benchmarks only: these calls
/// block and may spin.
std::span<const Baseline> mpi_baselines(const Communicator& communicator);

/// An element-wise scan across ranks, prepared once and run often: a baseline for schedules.
class PreparedScan {
  public:
    virtual ~PreparedScan() = default;
    /// Input: this rank's elements, as many as prepared for. Collective.
    virtual void run(std::span<const std::byte> elements) = 0;
    /// After a run; empty on rank 0 of an exclusive scan.
    virtual std::span<const std::byte> result() const = 0;
};

/// A scan without a schedule.
struct ScanBaseline {
    std::string_view name;
    std::string_view summary;
    bool exclusive;
    /// Collective.
    std::unique_ptr<PreparedScan> (*prepare)(const Communicator& communicator, const Operator& op,
                                             Elements elements);
};

/// MPI's four scans with our operator as the user operator. Empty if the communicator runs on
/// threads. For benchmarks only: the blocking ones may spin.
std::span<const ScanBaseline> mpi_scan_baselines(const Communicator& communicator);

/// A collective, prepared once and run often: a baseline for schedules.
class PreparedCollective {
  public:
    virtual ~PreparedCollective() = default;
    /// Input: this rank's image or tile, row by row, or nothing. Collective.
    virtual void run(std::span<const std::byte> own) = 0;
    /// After a run: the data received by this rank, row by row. Empty at rank 0 of a scatter or
    /// broadcast, whose data stays in the input.
    virtual std::span<const std::byte> result() const = 0;
};

/// A collective without a schedule.
struct CollectiveBaseline {
    std::string_view name;
    std::string_view summary;
    CollectiveKind what;
    /// True if it can move such tiles, and counts fit into an int.
    bool (*takes)(const Grid& grid);
    /// Input: a grid whose elements are bytes. Collective.
    std::unique_ptr<PreparedCollective> (*prepare)(const Communicator& communicator,
                                                   const Grid& grid);
};

/// MPI's collectives for contiguous tiles; for tiles narrower than the image, with one derived
/// datatype for all tiles or one for each (MPI_Alltoallw). Empty if the communicator runs on
/// threads. For benchmarks only: these calls block and may spin.
std::span<const CollectiveBaseline> mpi_collectives(const Communicator& communicator);

} // namespace sextant::lab
