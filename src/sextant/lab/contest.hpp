// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/core/units.hpp"
#include "sextant/planner/choose.hpp"
#include "sextant/report/alternatives_section.hpp"
#include "sextant/report/page.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace sextant::lab {

/// The times of a contestant, one per round.
struct Score {
    std::vector<Seconds> wall; ///< of the slowest rank
    std::vector<Seconds> cpu;  ///< of all ranks together
};

struct ContestOptions {
    int rounds = 31;
    Seconds least_turn = 2e-3; ///< work is repeated until a turn takes this long
    int most_repeats = 10000;  ///< per turn
    /// Puts an untimed barrier before every repetition instead of every turn: for work in which
    /// ranks do not wait for each other and would get out of step.
    bool barriers = false;
    /// Called before each round, on every rank.
    std::function<void(int round)> progress = {};
    /// Called on every rank, untimed, before each turn, and before each repetition that is long
    /// enough to be timed separately.
    std::function<void()> before = {};
};

/// Times contestants against each other. In every round each contestant takes a turn, in a random
/// order that is the same on all ranks, so that drift of the machine affects all. An untimed
/// barrier precedes each turn; two warm-up rounds are not counted. Collective.
std::vector<Score> contest(const Communicator& communicator,
                           std::span<const std::function<void()>> contestants,
                           const ContestOptions& options = {});

/// A median with its confidence interval.
struct Estimate {
    double median = 0;
    Interval interval;
};

Estimate estimate(std::span<const double> values);

/// Estimates the ratio of two contestants, paired by round.
Estimate estimate_ratio(std::span<const Seconds> ours, std::span<const Seconds> reference);

/// "[1.20, 1.31]", with seconds multiplied by `units`.
std::string interval_text(const Estimate& estimate, double units, int digits);
/// "median [low, high]".
std::string to_text(const Estimate& estimate, double units, int digits);

/// For a chart.
report::TimeRange to_range(const Estimate& estimate);

/// An object with `median`, `low`, `high`.
nlohmann::ordered_json to_json(const Estimate& estimate);

// Page sections that summarise all cases of any benchmark.

/// The predicted and measured time of a configuration in a case.
struct TimedConfiguration {
    std::string case_name; ///< the case, whose configurations are compared
    std::string name;
    std::optional<Seconds> predicted;
    std::optional<Estimate> measured; ///< seconds
    double size = 0;                  ///< of the case; its meaning is `SizeOfCases::name`
};

/// The quantity in which cases differ.
struct SizeOfCases {
    std::string name; ///< "pixels"
    std::string (*text)(double size) = nullptr;
};

/// Sections: predicted against measured times; regret of the predicted choice in each case; and
/// times over the sizes of cases, if there are several. Sections without data are omitted.
std::vector<report::Section> summary_sections(const std::vector<TimedConfiguration>& configurations,
                                              const SizeOfCases& size);

/// The regret of following predictions in a case: the time of the configuration predicted to be
/// fastest, over that of the fastest among those with a prediction, with an interval. Cases with
/// fewer than two such configurations are omitted.
struct CaseRegret {
    std::string case_name, followed, best;
    Estimate ratio{1, {1, 1}};

    /// True if the two may be equally fast.
    bool within_noise() const { return ratio.interval.low <= 1; }
};
std::vector<CaseRegret> regrets(const std::vector<TimedConfiguration>& configurations);

/// The predicted time of a candidate; nothing if no model can express it.
std::optional<Seconds> predicted_seconds(const Candidate& candidate,
                                         const planner::Setting& setting);

} // namespace sextant::lab
