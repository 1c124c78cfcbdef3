// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/operator.hpp"
#include "sextant/core/record.hpp"
#include "sextant/lab/contest.hpp"
#include "sextant/lab/mpi_baselines.hpp"
#include "sextant/scan/operator_times.hpp"
#include "sextant/scan/stealing.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant::lab {

/// One scan benchmark; docs/bench.md describes its fields.
struct ScanCase {
    std::string name;
    Elements values = 64;
    scan::Distribution times{scan::Distribution::Kind::exponential, 2e-3};
    std::optional<Seconds> mean; ///< of the file of cases; default: as recorded, else 2 ms
    std::string recorded;        ///< a file of times, relative to that of the cases
    bool busy = false;           ///< the operator computes instead of sleeping
    int ranks = 0;               ///< simulated clock: number of ranks; 0: --ranks
    std::vector<int> threads = {1};
    std::vector<std::string> boundaries = {"fixed", "moving"};
    std::vector<std::string> strategies; ///< empty: all that support this number of threads
    std::vector<std::string> algorithms; ///< empty: all
    bool baselines = true;
    double neighbours = 0; ///< simulated clock: extra time of an application per preceding value
    Seconds time_limit = 0;
    /// The operator throws when it combines something with this element; 0: never. MPI's scans are
    /// skipped then, because no exception may leave their callback.
    Elements fails_at = 0;
};

Record record_of(ScanCase& what);

/// Reads cases from a JSON file. Throws InvalidFile.
std::vector<ScanCase> read_scan_cases(const std::string& path);

/// The configurations that a case compares, each with its default tunings.
std::vector<scan::Configuration> configurations_of(const ScanCase& what);

/// The result of a configuration in a case.
struct ScanResult {
    std::string name;
    int threads = 1;
    bool baseline = false;
    std::optional<Estimate> measured;  ///< seconds of the slowest rank; none if simulated
    std::optional<Estimate> rehearsed; ///< makespan with the same draws; none for baselines
    std::optional<Estimate> ratio;     ///< measured over rehearsed, draw by draw
    double balanced = 0; ///< mean makespan with perfect balance within ranks, over the draws
    scan::Usage usage;   ///< of the last round
    Elements stolen = 0; ///< values, in the last round
    std::vector<scan::Bar> bars; ///< of the last round
};

struct ScanResults {
    ScanCase what;
    int ranks = 1;
    Seconds serial = 0;      ///< time of the last round's draws on one worker
    Seconds sleep_error = 0; ///< mean error of a sleep, before correction
    std::vector<ScanResult> results;
};

/// Times every configuration of a case, and MPI's scans if available and every rank has a value.
/// Mock operators draw new times in every round; the same draws are rehearsed. Throws
/// std::logic_error for a wrong result. The results are at rank 0. Collective.
ScanResults bench_scan(const Communicator& communicator, const ScanCase& what,
                       const ContestOptions& options);

/// The same on a simulated clock, for any number of ranks. If `neighbours` > 0, the registration of
/// neighbouring frames comes before the scan: this multiple of an application's time per value,
/// divided among a rank's threads.
ScanResults rehearse_scan(const ScanCase& what, int ranks, int draws);

/// The total time that sleeps took too long.
struct SleepError {
    std::atomic<std::int64_t> nanoseconds = 0, sleeps = 0;

    Seconds mean() const;
};

/// An operator that combines adjacent intervals of a series (scan::Interval) and takes a given
/// time: sleeping, so that there can be more workers than cores, or computing. It is exact and not
/// commutative: operands that are not adjacent throw std::logic_error. A thread that slept too long
/// sleeps less the next time, so that errors do not add up.
/// Input     `time` and `error` must outlive it.
Operator mock_operator(const scan::OperatorTime& time, bool busy, SleepError& error);

/// Reduce-then-scan as an MPI user would write it: a local reduction, an MPI scan of the totals,
/// and a local scan. With an inclusive MPI scan, each rank gets its prefix from its left neighbour.
class ScanBaselineRun {
  public:
    /// Requires at least one value on every rank. Collective.
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

} // namespace sextant::lab
