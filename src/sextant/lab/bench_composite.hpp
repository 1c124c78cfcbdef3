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

/// The result of an implementation in a case.
struct CompositeResult {
    std::string name, tuning;
    std::string transport; ///< for schedules, if there are several
    bool baseline = false;
    bool sparse = false;       ///< messages skip empty pixels
    std::int64_t messages = 0; ///< of the rank that sends most; 0 for baselines: unknown
    Elements pixels = 0;       ///< that this rank sends, before compression
    double sent = 1;           ///< fraction of their bytes that all ranks send
    /// On this machine; none for baselines, copied images and sparse messages.
    std::optional<Seconds> predicted;
    Estimate wall, cpu;        ///< seconds: of the slowest rank; of all ranks
    Estimate ratio, cpu_ratio; ///< to the reference
};

struct CompositeResults {
    CompositeCase what;
    int ranks = 1;
    std::string reference; ///< as requested; else the usual baseline of MPI users, or the first
    std::vector<CompositeResult> results;
};

/// Times every algorithm that takes this number of ranks, and the communicator's baselines, against
/// each other. With all transports, processes use messages, and shared memory with images that are
/// there or are copied there. First compares each result with a serial fold; throws
/// std::logic_error if it is wrong. Memory: two to three images per contestant and rank.
/// Collective.
CompositeResults bench_composite(const Communicator& communicator, const CompositeCase& what,
                                 ContestOptions options);

/// The results as a table.
std::string to_text(const CompositeResults& results, const std::string& transport, int rounds);

/// The results as JSON.
nlohmann::ordered_json to_json(const CompositeResults& results);

/// The results for a page.
report::Section section_of(const CompositeResults& results);

/// The entries for the page's summary.
std::vector<TimedConfiguration> configurations_of(const CompositeResults& results);

} // namespace sextant::lab
