// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/operator.hpp"
#include "sextant/core/record.hpp"
#include "sextant/lab/contest.hpp"
#include "sextant/lab/mpi_baselines.hpp"
#include "sextant/report/page.hpp"
#include "sextant/scan/operator_times.hpp"
#include "sextant/scan/stealing.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace sextant::lab {

/// A scan of a series to measure; docs/bench.md describes its fields.
struct ScanCase {
    std::string name;
    Elements values = 64;
    scan::Distribution times{scan::Distribution::Kind::exponential, 2e-3};
    std::optional<Seconds> mean; ///< mean time; default: mean of the recorded times, else 2 ms
    std::string recorded;        ///< file of recorded times, relative to the file of cases
    bool busy = false;           ///< the operator computes instead of sleeping
    int ranks = 0;               ///< number of ranks on a simulated clock; 0: that of --ranks
    std::vector<int> threads = {1};
    std::vector<std::string> boundaries = {"fixed", "moving"};
    std::vector<std::string> strategies; ///< empty: all that support this number of threads
    std::vector<std::string> algorithms; ///< empty: all
    bool baselines = true;
    double neighbours = 0; ///< work per value before a simulated scan, in operator applications
    Seconds time_limit = 0;
    /// The operator throws if its second operand begins at this value; 0: never. If set, MPI's
    /// scans are skipped, because an exception must not leave their callback.
    Elements fails_at = 0;
};

Record record_of(ScanCase& what);

/// Reads cases from a JSON file. Throws InvalidFile.
std::vector<ScanCase> read_scan_cases(const std::string& path);

/// Returns the configurations that a case compares, with default tunings.
std::vector<scan::Configuration> configurations_of(const ScanCase& what);

/// The times of one configuration in one case.
struct ScanResult {
    std::string name;
    int threads = 1;
    bool baseline = false;
    std::optional<Estimate> measured;  ///< seconds, slowest rank; empty if simulated
    std::optional<Estimate> rehearsed; ///< simulated makespan; empty for baselines
    std::optional<Estimate> ratio;     ///< measured time / simulated makespan, paired by round
    double balanced = 0; ///< mean makespan if the threads within each rank were perfectly balanced
    scan::Usage usage;   ///< core usage in the last round
    Elements stolen = 0; ///< number of values claimed by another thread in the last round
    std::vector<scan::Bar> bars; ///< operator applications of the last round
};

struct ScanResults {
    ScanCase what;
    int ranks = 1;
    Seconds serial = 0;      ///< total operator time in the last round
    Seconds sleep_error = 0; ///< mean error of a sleep before correction
    std::vector<ScanResult> results;
};

/// Measures every configuration of a case, and MPI's scans if they are available and every rank has
/// a value. New times of the mock operator are drawn in every round, and the same draws are
/// simulated for comparison. Throws std::logic_error if a result is wrong. Returns the results on
/// rank 0. Collective.
ScanResults bench_scan(const Communicator& communicator, const ScanCase& what,
                       const ContestOptions& options);

/// Runs the configurations of a case on a simulated clock, for any number of ranks. If `neighbours`
/// > 0, each value first costs this multiple of the time of an operator application, divided among
/// the threads of its rank, like the registration of neighbouring frames.
ScanResults rehearse_scan(const ScanCase& what, int ranks, int draws);

/// The total oversleep, and the number of sleeps.
struct SleepError {
    std::atomic<std::int64_t> nanoseconds = 0, sleeps = 0;

    Seconds mean() const;
};

/// Returns an operator that combines adjacent intervals of a series (scan::Interval) and takes a
/// given time. The operator computes if `busy`, and sleeps otherwise, so that there can be more
/// workers than cores. The operator is exact and not commutative; it throws std::logic_error for
/// operands that are not adjacent. A thread that oversleeps shortens its next sleep, so that errors
/// do not accumulate.
/// Input     `time` and `error` must outlive the operator.
Operator mock_operator(const scan::OperatorTime& time, bool busy, SleepError& error);

/// Reduce-then-scan as an MPI user would implement it: a local reduction, an MPI scan of the
/// totals, and a local scan. With an inclusive MPI scan, each rank receives its prefix from its
/// left neighbour.
class ScanBaselineRun {
  public:
    /// Requires at least one value on every rank. Collective.
    ScanBaselineRun(const Communicator& communicator, const ScanBaseline& row, const Operator& op,
                    Elements values);

    /// Runs the scan; the result is valid until the next run. Collective.
    std::span<const std::byte> run(std::span<const std::byte> values);

  private:
    const std::byte* before();

    const Communicator communicator_;
    const Operator operator_;
    const bool exclusive_;
    const std::size_t size_, values_;
    std::unique_ptr<PreparedCall> totals_;
    std::unique_ptr<Execution> shift_; ///< sends inclusive prefixes to the next rank
    Memory total_, output_;
};

/// Returns the results as a table.
std::string to_text(const ScanResults& results, const std::string& transport, int rounds);

/// Returns the results as JSON, with all operator applications of the last round.
nlohmann::ordered_json to_json(const ScanResults& results);

/// Returns a Gantt chart of the last round of the fastest configuration, baselines excluded.
std::string picture_of(const ScanResults& results);

/// Returns a page section for the case: measured and simulated times, idle fractions, and the Gantt
/// chart.
report::Section section_of(const ScanResults& results);

/// Returns the results as entries of the page's summary.
std::vector<TimedConfiguration> configurations_of(const ScanResults& results);

} // namespace sextant::lab
