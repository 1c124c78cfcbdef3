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
struct CompositeResult : TimedResult { // no predictions for copied images and sparse messages
    std::string tuning;
    std::string transport; ///< transport of schedules; "" if only one is measured
    bool baseline = false;
    bool sparse = false;       ///< true if messages skip empty pixels
    std::int64_t messages = 0; ///< maximum number sent by a rank; 0 (unknown) for baselines
    Elements pixels = 0;       ///< maximum number sent by a rank, before compression
    double sent = 1;           ///< bytes sent by all ranks, relative to uncompressed messages
    Estimate cpu_ratio;        ///< CPU time relative to the reference

    /// Returns the name with the tuning and transport.
    std::string full_name() const;
};

struct CompositeResults {
    CompositeCase what;
    int ranks = 1;
    std::string reference; ///< denominator of the ratios
    std::vector<CompositeResult> results;
};

/// Compares the run times of all algorithms that support this number of ranks, and of the
/// communicator's baselines. With `all_transports`, ranks that are processes are measured with
/// messages, with images that are already in shared memory, and with images that are copied into
/// shared memory. First compares each result with a serial fold; throws std::logic_error if they
/// differ. Memory: two to three images per contestant and rank. Collective.
CompositeResults bench_composite(const Communicator& communicator, const CompositeCase& what,
                                 ContestOptions options);

/// Returns the results as a table.
std::string to_text(const CompositeResults& results, const std::string& transport, int rounds);

/// Returns the results as JSON.
nlohmann::ordered_json to_json(const CompositeResults& results);

/// Returns a page section with a chart of the results.
report::Section section_of(const CompositeResults& results);

/// Returns the results as entries of the page's summary.
std::vector<TimedConfiguration> configurations_of(const CompositeResults& results);

} // namespace sextant::lab
