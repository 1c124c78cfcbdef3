// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/operation/bench/bench_scan_cases.hpp"
#include "sextant/operation/bench/contest.hpp"
#include "sextant/scan/application.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sextant::operation {

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

} // namespace sextant::operation
