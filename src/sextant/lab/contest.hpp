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

/// The times of a contestant, one entry per round.
struct Score {
    std::vector<Seconds> wall;           ///< wall-clock time of the slowest rank
    std::vector<Seconds> cpu;            ///< total CPU time of all ranks
    std::vector<Seconds> least, average; ///< wall-clock time of the fastest rank; mean of ranks
};

struct ContestOptions {
    int rounds = 31;
    Seconds least_turn = 2e-3; ///< minimum duration of a turn; work is repeated to reach it
    int most_repeats = 10000;  ///< maximum number of repetitions per turn
    /// Calls a barrier, which is not timed, before every repetition instead of every turn. Needed
    /// for work in which ranks do not wait for each other, because some ranks would run ahead.
    bool barriers = false;
    /// Called before each round, on every rank.
    std::function<void(int round)> progress = {};
    /// Called on every rank, not timed, before each turn, and also before each repetition if
    /// repetitions are long enough to be timed separately. Such a turn has at least three
    /// repetitions, and one before them that is not timed.
    std::function<void()> before = {};
};

/// Compares the run times of contestants. In every round, each contestant has one turn, in a random
/// order that is the same on all ranks, so that drift of the machine affects all contestants
/// equally. A barrier, which is not timed, precedes each turn; two warm-up rounds are not counted.
/// Collective.
std::vector<Score> contest(const Communicator& communicator,
                           std::span<const std::function<void()>> contestants,
                           const ContestOptions& options = {});

/// A median with its confidence interval.
struct Estimate {
    double median = 0;
    Interval interval;
};

Estimate estimate(std::span<const double> values);

/// Estimates the ratio of the times of two contestants, paired by round.
Estimate estimate_ratio(std::span<const Seconds> ours, std::span<const Seconds> reference);

/// Returns the interval as "[1.20, 1.31]", with values multiplied by `units`.
std::string interval_text(const Estimate& estimate, double units, int digits);
/// Returns the estimate as "median [low, high]".
std::string to_text(const Estimate& estimate, double units, int digits);

/// Returns the estimate as a bar of a chart.
report::TimeRange to_range(const Estimate& estimate);

/// Returns a JSON object with `median`, `low`, `high`.
nlohmann::ordered_json to_json(const Estimate& estimate);

/// The measured times of one configuration in one case.
struct TimedResult {
    std::string name;
    std::optional<Seconds> predicted; ///< predicted time on this machine; empty for baselines
    Estimate wall, cpu;               ///< seconds: slowest rank; total of all ranks
    Estimate ratio;                   ///< wall time relative to the reference

    void set(const Score& score, const Score& reference);
};
/// Returns a JSON object with the name, the times, the ratio and, if there is one, the prediction.
nlohmann::ordered_json to_json(const TimedResult& result);
/// Returns the result as a row of a page's chart.
report::Alternative alternative_of(const TimedResult& result);

/// Measures contestants by calling their function `run`. Collective.
template <class Contestants>
std::vector<Score> contest_of(const Communicator& communicator, const Contestants& contestants,
                              const ContestOptions& options) {
    std::vector<std::function<void()>> runs;
    for (const auto& contestant : contestants)
        runs.push_back([&contestant] { contestant.run(); });
    return contest(communicator, runs, options);
}

// Page sections that summarise all cases of a benchmark.

/// The predicted and measured times of a configuration in a case.
struct TimedConfiguration {
    std::string case_name; ///< configurations of the same case are compared
    std::string name;
    std::optional<Seconds> predicted;
    std::optional<Estimate> measured; ///< in seconds
    double size = 0;                  ///< size of the case, in `SizeOfCases::name`
};

/// The quantity by which cases differ.
struct SizeOfCases {
    std::string name; ///< for example "pixels"
    std::string (*text)(double size) = nullptr;
};

/// Returns the sections: measured against predicted times; the regret of following the prediction
/// in each case; and times by size, if the cases differ in size. Sections without data are omitted.
std::vector<report::Section> summary_sections(const std::vector<TimedConfiguration>& configurations,
                                              const SizeOfCases& size);

/// The regret of following predictions in a case: the measured time of the configuration with the
/// lowest predicted time, relative to that of the fastest configuration that has a prediction.
/// Cases with fewer than two predicted configurations are omitted.
struct CaseRegret {
    std::string case_name, followed, best;
    Estimate ratio{1, {1, 1}};

    /// Returns true if the two configurations may be equally fast.
    bool within_noise() const { return ratio.interval.low <= 1; }
};
std::vector<CaseRegret> regrets(const std::vector<TimedConfiguration>& configurations);

/// Returns the predicted time of a candidate; empty if no model can express its schedule.
std::optional<Seconds> predicted_seconds(const Candidate& candidate,
                                         const planner::Setting& setting);

} // namespace sextant::lab
