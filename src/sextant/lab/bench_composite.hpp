// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/lab/bench_cases.hpp"
#include "sextant/lab/contest.hpp"
#include "sextant/report/page.hpp"

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace sextant::lab {

/// The times of one implementation in one case.
struct CompositeResult : TimedResult { // no prediction of copied images and sparse messages
    std::string tuning;
    std::string transport; ///< transport of schedules; empty if only one is timed
    bool baseline = false;
    bool sparse = false;       ///< true if messages skip empty pixels
    std::int64_t messages = 0; ///< largest number sent by any rank; 0 (unknown) for baselines
    Elements pixels = 0;       ///< largest number sent by any rank, before compression
    double sent = 1;           ///< bytes sent by all ranks, relative to uncompressed
    Estimate cpu_ratio;        ///< CPU time relative to the reference

    /// The name with the tuning and transport.
    std::string full_name() const;
};

struct CompositeResults {
    CompositeCase what;
    int ranks = 1;
    std::string reference; ///< denominator of the ratios
    std::vector<CompositeResult> results;
};

/// Times every algorithm that supports this number of ranks, and the communicator's baselines,
/// against each other. With `all_transports`, processes are timed with messages, with images
/// already in shared memory, and with images copied into it. First compares each result with a
/// serial fold; throws std::logic_error if they differ. Memory: two to three images per contestant
/// and rank. Collective.
CompositeResults bench_composite(const Communicator& communicator, const CompositeCase& what,
                                 ContestOptions options);

/// The results as a table.
std::string to_text(const CompositeResults& results, const std::string& transport, int rounds);

/// The results as JSON.
nlohmann::ordered_json to_json(const CompositeResults& results);

/// A page section with a chart of the results.
report::Section section_of(const CompositeResults& results);

/// The results as entries of the page's summary.
std::vector<TimedConfiguration> configurations_of(const CompositeResults& results);

} // namespace sextant::lab
