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

/// A filter to measure; docs/bench.md describes its fields.
struct FilterCase {
    std::string name;
    ImageShape shape{1024, 1024};
    ElementFormat element = gray_f32;
    distributed::Filter filter{3, {"x", "y", "xx", "xy", "yy"}, {}};
    int most = 24; ///< number of configurations to measure: those with the lowest predicted times
};

Record record_of(FilterCase& what);

/// Reads cases from a JSON file. Throws InvalidFile.
std::vector<FilterCase> read_filter_cases(const std::string& path);

/// Returns the default cases: small and large images, narrow and wide filters.
std::vector<FilterCase> usual_filter_cases();

/// The times of one configuration in one case.
struct FilterResult : TimedResult { // ratios are relative to the chosen configuration
    int ranks = 1;                  ///< number of ranks used
};

/// The speedup of all ranks over one rank.
struct FilterGain {
    Estimate wall; ///< from the slowest rank's wall time
    Estimate cpu;  ///< from the mean CPU time per rank, as if the work were divided evenly
};

struct FilterResults {
    FilterCase what;
    int ranks = 1;
    std::string reason;                ///< the planner's reason for its choice
    int left_out = 0;                  ///< number of configurations that were not measured
    std::vector<FilterResult> results; ///< the chosen configuration first, then by predicted time
    /// The chosen configuration's time relative to that of the fastest measured configuration.
    /// `by_cpu` compares the CPU time per rank used, as if no rank had to wait.
    struct Regret {
        std::string best;
        Estimate ratio;
    };
    Regret by_wall, by_cpu;
    /// Ratio of two measurements of the chosen configuration in the same rounds: the noise of the
    /// regret.
    Estimate wall_noise, cpu_noise;
    FilterGain filter;  ///< speedup of the chosen configuration
    FilterGain stay;    ///< the same, but planes stay in tiles
    FilterGain control; ///< speedup of arithmetic alone
};

/// Compares the run times of the configurations from which `sextant filter` chooses, with input
/// tiles already distributed. As a control, also measures arithmetic without memory access or
/// messages. First compares all planes bitwise with those computed on one rank; throws
/// std::logic_error if they differ. Memory: per configuration, an image and its planes on rank 0,
/// and again as tiles on all ranks. Collective.
FilterResults bench_filter(const Communicator& communicator, const FilterCase& what,
                           const ContestOptions& options);

/// Returns a table of one case.
std::string to_text(const FilterResults& results, const std::string& transport, int rounds);
nlohmann::ordered_json to_json(const FilterResults& results);
/// Returns the times of all configurations as a page section.
report::Section section_of(const FilterResults& results);

/// Returns the results as entries of the page's summary.
std::vector<TimedConfiguration> configurations_of(const FilterResults& results);

} // namespace sextant::lab
