// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/operator.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace sextant {

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

} // namespace sextant
