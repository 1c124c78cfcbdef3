// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/comm/mpi_scan_baselines.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/operator.hpp"

#include <memory>
#include <span>

namespace sextant::operation {

/// Reduce-then-scan as one writes it with MPI: a local reduction, one of MPI's scans of the totals,
/// and a local scan. Where MPI's scan is inclusive, each rank gets what lies before it from its
/// left neighbour.
class ScanBaselineRun {
  public:
    /// Requires  a value or more at every rank. Collective.
    ScanBaselineRun(const Communicator& communicator, const ScanBaseline& row, const Operator& op,
                    Elements values);

    /// Collective. The result is valid until the next run.
    std::span<const std::byte> run(std::span<const std::byte> values);

  private:
    const std::byte* before();

    const Communicator communicator_;
    const Operator operator_;
    const bool exclusive_;
    const std::size_t size_, values_;
    std::unique_ptr<PreparedScan> totals_;
    std::unique_ptr<Execution> shift_; ///< of inclusive prefixes to the right
    Memory total_, output_;
};

} // namespace sextant::operation
