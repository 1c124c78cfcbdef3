// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/operator_times.hpp"
#include "sextant/scan/rehearsal.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sextant::planner {

/// A series to be scanned on so many cores, and what is known of its operator.
struct ScanQuestion {
    Elements values = 1;
    int cores = 1;
    scan::Distribution times; ///< of the operator on one core
    /// How much faster one application is on 1, 2, … cores, the first being 1: where the operator
    /// has threads of its own.
    std::vector<double> speedup = {1};
    int most_threads = 1 << 20; ///< a rank may have: the cores of a node
    int draws = 20;
    std::uint64_t seed = 1;
};

/// A makespan over the draws.
struct ExpectedMakespan {
    Seconds mean = 0, error = 0; ///< and its standard error
    Seconds balanced = 0;        ///< the mean with perfect balance within ranks
    double stolen = 0;           ///< values, mean
};

/// The expected makespan of a scan whose operator takes a random time: the mean over draws of
/// whole rehearsals, since the longest of many paths takes longer than the mean of each.
///
/// Input     a series, a way, a distribution, how many draws, the first one's seed.
/// Deterministic.
/// Source    max-plus Monte Carlo, as for stochastic task graphs
ExpectedMakespan expected_makespan(const scan::Series& series, const scan::Way& way,
                                   const scan::Distribution& times, int draws, std::uint64_t seed);

struct ScanCandidate {
    scan::Way way;
    int ranks = 1;
    int operator_cores = 1; ///< within each application
    ExpectedMakespan expected;

    /// "4 ranks, reduce-then-scan over sklansky, 2 threads, boundaries moving".
    std::string text() const;
};

/// Every candidate, the one with the least expected makespan first.
struct ScanChoice {
    ScanQuestion question;
    std::vector<ScanCandidate> candidates;
    std::string reason;

    const ScanCandidate& best() const { return candidates.front(); }
};

/// Among all circuits and strategies, splits of the cores into ranks, threads and cores within the
/// operator, the one with the least expected makespan. All candidates meet the same draws.
/// Throws InvalidTask.
ScanChoice choose_scan(const ScanQuestion& question);

/// A table of so many candidates, with the reason; the whole of it as JSON.
std::string to_text(const ScanChoice& choice, std::size_t rows = 12);
std::string to_json(const ScanChoice& choice);

} // namespace sextant::planner
