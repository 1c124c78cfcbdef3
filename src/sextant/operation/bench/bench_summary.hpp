// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/operation/bench/contest.hpp"
#include "sextant/planner/choose.hpp"
#include "sextant/report/page.hpp"

#include <optional>
#include <string>
#include <vector>

// What pages of benchmarks say of all their cases together, whatever they are of.
namespace sextant::operation {

/// A way in a case: what it was predicted to take, and what it took.
struct TimedWay {
    std::string case_name; ///< of what was timed against each other
    std::string name;
    std::optional<Seconds> predicted;
    std::optional<Estimate> measured; ///< seconds
    double size = 0;                  ///< of the case, in `SizeOfCases::what`
};

/// What cases differ by.
struct SizeOfCases {
    std::string name; ///< "pixels"
    std::string (*text)(double size) = nullptr;
};

/// Predicted against measured; in each case what was predicted to be fastest over what was; and
/// times over the sizes of cases, where there are several. What nothing is known for is left out.
std::vector<report::Section> summary_sections(const std::vector<TimedWay>& ways,
                                              const SizeOfCases& size);

/// What following predictions costs in a case: the way predicted to be fastest over the fastest of
/// those that have a prediction, and what that ratio may be within the intervals of both times.
/// Nothing where fewer than two have both times.
struct CaseRegret {
    std::string case_name, followed, best;
    Estimate ratio{1, {1, 1}};

    /// Whether the two may be equally fast.
    bool within_noise() const { return ratio.interval.low <= 1; }
};
std::vector<CaseRegret> regrets(const std::vector<TimedWay>& ways);

/// What one candidate is predicted to take; nothing where no model has words for it.
std::optional<Seconds> predicted_seconds(const Candidate& candidate,
                                         const planner::Setting& setting);

} // namespace sextant::operation
