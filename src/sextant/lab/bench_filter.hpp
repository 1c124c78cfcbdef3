// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"
#include "sextant/core/image.hpp"
#include "sextant/distributed/filter_plan.hpp"
#include "sextant/distributed/window_filter.hpp"
#include "sextant/lab/contest.hpp"
#include "sextant/report/page.hpp"

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace sextant::command {

/// One filter to time; docs/bench.md has its fields.
struct FilterCase {
    std::string name;
    ImageShape shape{1024, 1024};
    ElementFormat element = gray_f32;
    distributed::Filter filter{3, {"x", "y", "xx", "xy", "yy"}, {}};
    int most = 24; ///< ways that are timed, the most promising ones
};

/// Reads cases from a JSON file. Throws InvalidFile, naming case, field, value and expectation.
std::vector<FilterCase> read_filter_cases(const std::string& path);

/// What is timed where nobody says what.
FilterCase usual_filter_case();

/// How one way to filter did in a case.
struct FilterResult {
    std::string name;
    int ranks = 1; ///< that it uses
    std::optional<Seconds> predicted;
    Estimate wall, cpu; ///< seconds: of the slowest rank, of all ranks
    Estimate ratio;     ///< to the chosen way
};

/// How many times faster something is on all ranks than on one.
struct FilterGain {
    Estimate wall; ///< by the slowest rank's time
    Estimate cpu;  ///< by the processors' time, were it shared evenly
};

struct FilterResults {
    FilterCase what;
    int ranks = 1;
    std::string reason;                ///< of the choice
    int left_out = 0;                  ///< ways that were not timed
    std::vector<FilterResult> results; ///< the chosen first, then as predicted
    /// The chosen over the best of what was timed, and which that is; by processors' time each
    /// rank's that a way uses, as if none were kept waiting.
    struct Regret {
        std::string best;
        Estimate ratio;
    };
    Regret by_wall, by_cpu;
    /// The chosen over itself, in another turn of the same rounds: what of regret is noise.
    Estimate wall_noise, cpu_noise;
    FilterGain filter;  ///< the chosen over one rank
    FilterGain stay;    ///< the same where planes stay in tiles
    FilterGain control; ///< the same of arithmetic alone
};

/// Times the ways that `sextant filter` chooses from, each with its tile on every rank from the
/// start, against each other, and arithmetic that needs no memory and no messages as a control.
/// Every way's planes are first compared, to the bit, with those of one rank: others throw
/// std::logic_error. Memory: an image and its planes, and again on ranks, for each way. Collective.
FilterResults bench_filter(const Communicator& communicator, const FilterCase& what,
                           const ContestOptions& options);

/// A table of one case.
std::string to_text(const FilterResults& results, const std::string& transport, int rounds);
nlohmann::ordered_json to_json(const FilterResults& results);
/// Of a page: what each way takes.
report::Section section_of(const FilterResults& results);

/// What of a case goes into what a page says of all.
std::vector<TimedWay> ways_of(const FilterResults& results);

} // namespace sextant::command
