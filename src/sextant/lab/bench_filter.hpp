// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"
#include "sextant/core/image.hpp"
#include "sextant/core/record.hpp"
#include "sextant/distributed/filter_plan.hpp"
#include "sextant/distributed/window_filter.hpp"
#include "sextant/lab/contest.hpp"
#include "sextant/report/page.hpp"

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace sextant::lab {

/// One filter to time; docs/bench.md describes its fields.
struct FilterCase {
    std::string name;
    ImageShape shape{1024, 1024};
    ElementFormat element = gray_f32;
    distributed::Filter filter{3, {"x", "y", "xx", "xy", "yy"}, {}};
    int most = 24; ///< configurations timed at most, best predicted first
};

Record record_of(FilterCase& what);

/// Reads cases from a JSON file. Throws InvalidFile.
std::vector<FilterCase> read_filter_cases(const std::string& path);

/// The default case.
FilterCase usual_filter_case();

/// The result of a configuration in a case.
struct FilterResult {
    std::string name;
    int ranks = 1; ///< ranks that it uses
    std::optional<Seconds> predicted;
    Estimate wall, cpu; ///< seconds: of the slowest rank; of all ranks
    Estimate ratio;     ///< to the chosen configuration
};

/// The speed-up of all ranks over one.
struct FilterGain {
    Estimate wall; ///< by the slowest rank's time
    Estimate cpu;  ///< by CPU time, as if divided evenly
};

struct FilterResults {
    FilterCase what;
    int ranks = 1;
    std::string reason;                ///< of the choice
    int left_out = 0;                  ///< configurations that were not timed
    std::vector<FilterResult> results; ///< the chosen first, then as predicted
    /// The chosen configuration's time over that of the best one timed. `by_cpu` compares CPU time
    /// per rank used, as if no rank had to wait.
    struct Regret {
        std::string best;
        Estimate ratio;
    };
    Regret by_wall, by_cpu;
    /// The chosen configuration over itself in the same rounds: the noise of the regret.
    Estimate wall_noise, cpu_noise;
    FilterGain filter;  ///< the chosen over one rank
    FilterGain stay;    ///< the same with planes left in tiles
    FilterGain control; ///< the same for arithmetic alone
};

/// Times the configurations that `sextant filter` chooses from against each other, with tiles
/// already on their ranks; and, as a control, arithmetic that needs neither memory nor messages.
/// First compares all planes bitwise with those of one rank; throws std::logic_error if they
/// differ. Memory: an image and its planes, at rank 0 and again in tiles, per configuration.
/// Collective.
FilterResults bench_filter(const Communicator& communicator, const FilterCase& what,
                           const ContestOptions& options);

/// A table of one case.
std::string to_text(const FilterResults& results, const std::string& transport, int rounds);
nlohmann::ordered_json to_json(const FilterResults& results);
/// The times of all configurations, for a page.
report::Section section_of(const FilterResults& results);

/// The entries for the page's summary.
std::vector<TimedConfiguration> configurations_of(const FilterResults& results);

} // namespace sextant::lab
