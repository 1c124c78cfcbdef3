// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/lab/bench_cases.hpp"
#include "sextant/lab/contest.hpp"
#include "sextant/report/page.hpp"

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace sextant::command {

/// How one way to composite did in a case.
struct CompositeResult {
    std::string name, tuning;
    std::string transport; ///< of a schedule: how its ranks exchange, where there are several ways
    bool baseline = false;
    bool sparse = false;       ///< whether messages leave out what was not drawn
    std::int64_t messages = 0; ///< sent by the rank that sends most; 0 of baselines: not known
    Elements pixels = 0;       ///< that it sends, or stands for by what it sends
    double sent = 1;           ///< what part of their bytes all ranks send
    /// As usual on this machine; nothing of baselines, of images that are copied and of codes.
    std::optional<Seconds> predicted;
    Estimate wall, cpu;        ///< seconds: of the slowest rank, of all ranks
    Estimate ratio, cpu_ratio; ///< to the reference
};

struct CompositeResults {
    CompositeCase what;
    int ranks = 1;
    std::string reference; ///< as asked for; else the baseline that MPI users would write, or first
    std::vector<CompositeResult> results;
};

/// Times every algorithm that takes so many ranks, and the baselines that the communicator has,
/// against each other; where all transports are asked for, over processes by messages alone and in
/// shared memory, with images that lie there or are copied there. Each one's picture is first
/// compared with a serial fold: a wrong one throws std::logic_error. Memory: two to three images a
/// contestant and rank. Collective.
CompositeResults bench_composite(const Communicator& communicator, const CompositeCase& what,
                                 ContestOptions options);

/// A table for people.
std::string to_text(const CompositeResults& results, const std::string& transport, int rounds);

/// The same for programs.
nlohmann::ordered_json to_json(const CompositeResults& results);

/// The same for a page.
report::Section section_of(const CompositeResults& results);

/// What of a case goes into what a page says of all.
std::vector<TimedWay> ways_of(const CompositeResults& results);

} // namespace sextant::command
