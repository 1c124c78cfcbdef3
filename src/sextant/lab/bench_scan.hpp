// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/command/scan_cases.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/operator.hpp"
#include "sextant/lab/contest.hpp"
#include "sextant/lab/mpi_baselines.hpp"
#include "sextant/scan/operator_times.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant::command {

/// How one way to scan did in a case.
struct ScanResult {
    std::string name;
    int threads = 1;
    bool baseline = false;
    std::optional<Estimate> measured;  ///< seconds of the slowest rank; none by simulated clock
    std::optional<Estimate> rehearsed; ///< the makespan of the same draws; none of baselines
    std::optional<Estimate> ratio;     ///< measured over rehearsed, draw by draw
    double balanced = 0; ///< mean makespan with perfect balance within ranks, over the draws
    scan::Usage usage;   ///< of the last round
    Elements stolen = 0; ///< values, in the last round
    std::vector<scan::Bar> bars; ///< of the last round
};

struct ScanResults {
    ScanCase what;
    int ranks = 1;
    Seconds serial = 0;      ///< what the last round's draws take one worker
    Seconds sleep_error = 0; ///< mean of a sleep, before it is made up for
    std::vector<ScanResult> results;
};

/// Times every way of a case, and MPI's scans where there are some and every rank has a value, on
/// mock operators with new draws in every round, beside rehearsals of the same draws. A result that
/// is no scan throws std::logic_error. Results are rank 0's. Collective.
ScanResults bench_scan(const Communicator& communicator, const ScanCase& what,
                       const ContestOptions& options);

/// The same by simulated clock alone: nothing is run, so there may be any number of ranks.
/// With `neighbours` more than 0, the registration of neighbours comes before the scan: for each
/// value so much of an application's time, shared among a rank's threads.
ScanResults rehearse_scan(const ScanCase& what, int ranks, int draws);

/// What sleeping took longer than it should.
struct SleepError {
    std::atomic<std::int64_t> nanoseconds = 0, sleeps = 0;

    Seconds mean() const;
};

/// An operator that combines neighbouring intervals of a series (scan::Interval) and takes as long
/// as it is told: asleep, so that more may work at once than there are cores, or busy. It is exact
/// and does not commute: operands that are no neighbours throw std::logic_error.
///
/// A thread that has slept too long sleeps less the next time, so that errors do not add up.
/// Input     `time` and `error` must outlive it.
Operator mock_operator(const scan::OperatorTime& time, bool busy, SleepError& error);

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

} // namespace sextant::command
