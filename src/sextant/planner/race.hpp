// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/planner/plan.hpp"

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace sextant::planner {

/// A race among a few ways to do the same, on work that is to be done in any case: frame after
/// frame another one runs, and in the end the least median decides. A state machine that knows
/// neither clock nor communicator: every rank keeps its own, and all give alike what is asked of
/// them as long as each finishes the same frames.
///
/// Contestants take turns to and fro, so that drift meets all. Their first turns warm up, and do
/// not count.
class Race {
  public:
    static constexpr int most_contestants = 3, most_rounds = 9;

    /// What a rank saw, turn by turn, as ranks tell it to each other.
    using Times = std::array<Seconds, most_contestants*(most_rounds + 1)>;
    static constexpr Seconds failed = -1; ///< the time of a frame that failed

    /// Requires  2 to most_contestants; 1 to most_rounds.
    Race(int contestants, int rounds);

    int frames() const { return contestants_ * (rounds_ + 1); }
    bool over() const { return done_ == frames(); }
    /// Who runs in the frame at hand. Requires  !over().
    int next() const { return contestant_of(done_); }
    /// The frame at hand has ended, after so long on this rank; or `failed`.
    void finish(Seconds took);
    const Times& times() const { return times_; }

    struct Outcome {
        int winner = 0; ///< of equals the first
        int frames = 0;
        std::vector<std::optional<Seconds>> medians; ///< none where every turn failed
    };
    /// Who won, by the slowest rank of each frame; frames that failed anywhere do not count.
    /// Input     the times of every rank. Requires  over().
    Outcome judge(std::span<const Times> ranks) const;

  private:
    int contestant_of(int frame) const;
    std::optional<Seconds> median_of(int contestant, std::span<const Times> ranks) const;

    int contestants_, rounds_;
    int done_ = 0;
    Times times_ = {};
};

/// How long the ways of a plan are to be raced.
struct RacingOrder {
    std::vector<compositing::Way> ways; ///< the chosen first; empty: no race
    int rounds = 0;
};

/// Whom to race where about so many frames are to come: the chosen and those that may be as fast,
/// since their intervals meet or their predictions lie no further apart than predictions err. No
/// race where that would take more than a quarter of the frames.
RacingOrder racing_order(const Plan& plan, int frames);

/// What a race made of a plan: the winner, with everyone's median in the reason and beside the
/// predictions.
Plan after_race(const Plan& plan, std::span<const compositing::Way> ways,
                const Race::Outcome& outcome);

} // namespace sextant::planner
