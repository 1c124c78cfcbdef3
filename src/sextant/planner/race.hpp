// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/planner/compositing_plan.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sextant::planner {

/// A race between a few configurations of the same task, run on production frames: each frame uses
/// the next configuration, and finally the lowest median wins. A state machine without clock or
/// communicator: each rank has its own instance, and all instances agree as long as the ranks
/// finish the same frames.
///
/// Contestants run in order and in reverse order alternately, so that drift affects all of them
/// alike. The first turn of each contestant is a warm-up and does not count.
class Race {
  public:
    static constexpr int most_contestants = 3, most_rounds = 9;

    /// The times measured by one rank, by turn, in the form that ranks exchange.
    using Times = std::array<Seconds, most_contestants*(most_rounds + 1)>;
    static constexpr Seconds failed = -1; ///< marks a frame that failed

    /// Requires  2 to most_contestants contestants; 1 to most_rounds rounds.
    Race(int contestants, int rounds);

    int frames() const { return contestants_ * (rounds_ + 1); }
    bool over() const { return done_ == frames(); }
    /// The contestant of the current frame. Requires !over().
    int next() const { return contestant_of(done_); }
    /// Ends the current frame with its time on this rank, or `failed`.
    void finish(Seconds took);
    const Times& times() const { return times_; }

    struct Outcome {
        int winner = 0; ///< the first one if several are equal
        int frames = 0;
        std::vector<std::optional<Seconds>> medians; ///< by contestant; empty if all frames failed
    };
    /// Determines the winner. The time of a frame is that of its slowest rank; frames that failed
    /// on any rank do not count.
    /// Input     the times of every rank. Requires over().
    Outcome judge(std::span<const Times> ranks) const;

  private:
    int contestant_of(int frame) const;
    std::optional<Seconds> median_of(int contestant, std::span<const Times> ranks) const;

    int contestants_, rounds_;
    int done_ = 0;
    Times times_ = {};
};

/// The configurations of a plan to race, and the number of rounds.
struct RacingOrder {
    std::vector<compositing::Configuration>
        configurations; ///< the chosen one first; empty: no race
    int rounds = 0;
};

/// The race for the next `frames` frames, approximately: the chosen configuration and those that
/// may be as fast, because their intervals overlap or their predictions differ by less than the
/// usual prediction error. No race if it would take more than a quarter of the frames.
RacingOrder racing_order(const CompositingPlan& plan, int frames);

/// The results of a race in words. `runs`: what was timed, "frames".
std::string scores_of(std::span<const std::string> names, const Race::Outcome& outcome,
                      std::string_view runs);

/// The plan after a race: the winner, with all medians in the reason and next to the predictions.
template <class Configuration>
Plan<Configuration> after_race(Plan<Configuration> plan,
                               std::type_identity_t<std::span<const Configuration>> configurations,
                               const Race::Outcome& outcome, std::string_view runs = "frames") {
    plan.configuration = configurations[static_cast<std::size_t>(outcome.winner)];
    plan.rivals = 1; // only the winner of the race remains
    std::vector<std::string> names;
    for (std::size_t i = 0; i < configurations.size(); ++i) {
        names.push_back(configurations[i].text());
        for (auto& each : plan.alternatives) {
            if (each.configuration == configurations[i])
                each.raced = outcome.medians[i];
        }
    }
    plan.reason = scores_of(names, outcome, runs) + "; predicted: " + plan.reason;
    const auto place = std::ranges::find(plan.alternatives, plan.configuration,
                                         &Alternative<Configuration>::configuration);
    if (place != plan.alternatives.end())
        std::rotate(plan.alternatives.begin(), place, place + 1);
    return plan;
}

} // namespace sextant::planner
