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

namespace sextant::command {

/// How long a contestant took, one value a round.
struct Score {
    std::vector<Seconds> wall; ///< of the slowest rank
    std::vector<Seconds> cpu;  ///< of all ranks together
};

struct ContestOptions {
    int rounds = 31;
    Seconds least_turn = 2e-3; ///< a turn repeats its work until it takes so long
    int most_repeats = 10000;  ///< in a turn
    /// Whether a barrier, which is not timed, precedes every repetition instead of every turn: for
    /// work in which ranks need not wait for each other, and would run ahead.
    bool barriers = false;
    /// Called before each round, by every rank.
    std::function<void(int round)> progress = {};
    /// What every rank does before each turn, and before each repetition that takes long enough to
    /// be timed by itself; it is not timed.
    std::function<void()> before = {};
};

/// Times contestants against each other: in every round each takes a turn, in an order drawn anew
/// that is the same on all ranks, so that drift of the machine meets all. A barrier precedes what
/// is timed and is not timed; two rounds of warm-up are not counted. Collective.
std::vector<Score> contest(const Communicator& communicator,
                           std::span<const std::function<void()>> contestants,
                           const ContestOptions& options = {});

/// A median with its interval.
struct Estimate {
    double median = 0;
    Interval interval;
};

Estimate estimate(std::span<const double> values);

/// Of the ratios of two contestants, paired by round.
Estimate estimate_ratio(std::span<const Seconds> ours, std::span<const Seconds> reference);

/// "[1.20, 1.31]" in a unit of which a second has so many.
std::string interval_text(const Estimate& estimate, double units, int digits);
/// The same after the median.
std::string to_text(const Estimate& estimate, double units, int digits);

/// As a page shows it.
report::TimeRange to_range(const Estimate& estimate);

/// `median`, `low`, `high`.
nlohmann::ordered_json to_json(const Estimate& estimate);

} // namespace sextant::command

// What pages of benchmarks say of all their cases together, whatever they are of.
namespace sextant::command {

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

} // namespace sextant::command
