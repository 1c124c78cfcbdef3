// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/json_value.hpp"
#include "sextant/planner/plan.hpp"
#include "sextant/scan/operator_times.hpp"
#include "sextant/scan/rehearsal.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sextant::planner {

/// A scan of a series on a number of cores, with the cost of its operator.
struct ScanQuestion {
    Elements values = 1;
    int cores = 1;
    scan::Distribution times; ///< times of the operator on one core
    /// The speedup of one application on 1, 2, … cores, for operators that use several threads. The
    /// first entry is 1.
    std::vector<double> speedup = {1};
    int most_threads = 1 << 20; ///< maximum number of threads per rank: cores of a node
    int draws = 20;
    std::uint64_t seed = 1;
};

/// Statistics of the makespan over the draws.
struct ExpectedMakespan {
    Seconds mean = 0, error = 0; ///< mean and its standard error
    Seconds balanced = 0;        ///< mean with perfect balance within ranks
    double stolen = 0;           ///< mean number of stolen values
};

/// The expected makespan of a scan whose operator takes a random time: the mean over simulations of
/// the whole scan, each with newly drawn operator times. The expected length of the path that is
/// longest on average would be too small, because the longest path varies between draws.
///
/// Input     a series, a configuration, a distribution, the number of draws, the first draw's seed.
/// Deterministic.
/// Source    max-plus Monte Carlo, as for stochastic task graphs
ExpectedMakespan expected_makespan(const scan::Series& series,
                                   const scan::Configuration& configuration,
                                   const scan::Distribution& times, int draws, std::uint64_t seed);

/// A configuration for scanning a series on the cores, with the expected makespan.
struct ScanConfiguration : scan::Configuration {
    int ranks = 1;
    int operator_cores = 1; ///< cores per application of the operator
    ExpectedMakespan makespan;

    /// A short text: "4 ranks, reduce-then-scan over sklansky, 2 threads, boundaries moving".
    std::string text() const;
};

/// The plan of a scan. The alternatives are all configurations; an interval extends two standard
/// errors to each side.
struct ScanPlan : Plan<ScanConfiguration> {
    ScanQuestion question;
};

/// Compares all circuits and strategies, and all splits of the cores into ranks, threads and cores
/// per application, by expected makespan. All candidates see the same draws. Throws InvalidTask.
ScanPlan choose_scan(const ScanQuestion& question);

/// Adds the question, the chosen configuration and all candidates to a JSON object; docs/json.md
/// describes the fields.
void add_plan(Json& json, const ScanPlan& plan);

} // namespace sextant::planner
