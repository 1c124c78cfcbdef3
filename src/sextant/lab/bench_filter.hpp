// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"
#include "sextant/core/image.hpp"
#include "sextant/core/record.hpp"
#include "sextant/filter/filter_plan.hpp"
#include "sextant/filter/filtering.hpp"
#include "sextant/filter/window_filter.hpp"
#include "sextant/lab/contest.hpp"
#include "sextant/report/page.hpp"

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace sextant::lab {

/// A filter to time; docs/bench.md describes its fields.
struct FilterCase {
    std::string name;
    ImageShape shape{1024, 1024};
    ElementFormat element = gray_f32;
    distributed::Filter filter{3, {"x", "y", "xx", "xy", "yy"}, {}};
    int most = 24; ///< number of configurations to time: those predicted to be fastest
};

Record record_of(FilterCase& what);

/// Reads cases from a JSON file. Throws InvalidFile.
std::vector<FilterCase> read_filter_cases(const std::string& path);

/// The default case.
FilterCase usual_filter_case();

/// The times of one configuration in one case.
struct FilterResult : TimedResult { // relative to the chosen configuration
    int ranks = 1;                  ///< number of ranks used
};

/// The speed-up of all ranks over one rank.
struct FilterGain {
    Estimate wall; ///< computed from the slowest rank's wall time
    Estimate cpu;  ///< computed from the mean CPU time per rank, as if work were divided evenly
};

struct FilterResults {
    FilterCase what;
    int ranks = 1;
    std::string reason;                ///< the planner's reason for its choice
    int left_out = 0;                  ///< number of configurations that were not timed
    std::vector<FilterResult> results; ///< the chosen one first, then by predicted time
    /// The chosen configuration's time relative to that of the fastest one timed. `by_cpu` compares
    /// the CPU time per rank used, as if no rank had to wait.
    struct Regret {
        std::string best;
        Estimate ratio;
    };
    Regret by_wall, by_cpu;
    /// Ratio of two measurements of the chosen configuration in the same rounds: the noise of the
    /// regret.
    Estimate wall_noise, cpu_noise;
    FilterGain filter;  ///< gain of the chosen configuration
    FilterGain stay;    ///< gain of the chosen configuration with planes left in tiles
    FilterGain control; ///< gain of arithmetic alone
};

/// Times the configurations that `sextant filter` chooses from against each other, with input tiles
/// already distributed; and, as a control, arithmetic without memory access or messages. First
/// compares all planes bitwise with those computed on one rank; throws std::logic_error if they
/// differ. Memory: per configuration, an image and its planes on rank 0, and again as tiles on all
/// ranks. Collective.
FilterResults bench_filter(const Communicator& communicator, const FilterCase& what,
                           const ContestOptions& options);

/// A table of one case.
std::string to_text(const FilterResults& results, const std::string& transport, int rounds);
nlohmann::ordered_json to_json(const FilterResults& results);
/// The times of all configurations, for a page.
report::Section section_of(const FilterResults& results);

/// The results as entries of the page's summary.
std::vector<TimedConfiguration> configurations_of(const FilterResults& results);

} // namespace sextant::lab
