// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/matching.hpp"
#include "sextant/schedule/timeline.hpp"
#include "sextant/schedule/walk.hpp"
#include "sextant/simulate/folding.hpp"
#include "sextant/simulate/simulate.hpp"

#include <functional>
#include <queue>
#include <vector>

namespace sextant::simulate {

/// What occupies a rank's processor.
enum class Work : std::uint8_t {
    message, ///< handing a message over, or taking it
    step     ///< a fold, copy or computation
};

/// What a play needs of the world it happens in. Both calls return at once; that they are over is
/// told to the play later, `Play::arrived` and `Play::worked`.
struct World {
    std::function<Seconds()> now;
    /// A message travels; it is named by the step that sends it.
    std::function<void(StepOfRank send, int to, Bytes bytes)> send;
    /// A rank works. A rank has at most one of each kind under way.
    std::function<void(int rank, Work work, Seconds seconds)> work;
};

/// A schedule being run in a world that has time but no pixels: which message and which work begins
/// when, given when others end.
///
/// A rank has one processor: it works on one step at a time, and hands over or takes one
/// message at a time, between two pixels of that if need be. A message travels once its sender has
/// handed it over and its receiver waits for it; both are done with it when it is there, the
/// receiver after taking it.
///
/// Throws std::logic_error where messages do not match. Keep what it is given alive.
class Play {
  public:
    Play(const Question& question, World world);
    Play(const Play&) = delete;
    Play& operator=(const Play&) = delete;

    /// Lets every rank begin.
    void begin();
    /// The message that this step sends is there.
    void arrived(StepOfRank send);
    /// A rank's work of this kind has ended.
    void worked(int rank, Work work);

    /// What came of it, once nothing is under way any more. Throws std::logic_error naming the
    /// ranks that wait for ever, and their steps.
    Simulation finish();

  private:
    /// Where a message stands, kept by the step that sends it.
    enum Readiness : std::uint8_t { handed_over = 1, awaited = 2, travels = 3 };

    struct Rank {
        Rank(const Program& program, const Dependences& dependences, Association association)
            : walk(program, dependences),
              folding(program, association),
              readiness(program.steps.size()) {}

        Walk walk;
        Folding folding;
        std::vector<std::uint8_t> readiness; ///< of each step that sends
        std::queue<int> messages;            ///< to hand over or take; the first is being so
        int step = Walk::none;               ///< the work under way
        Seconds step_began = 0;
        bool step_ends = false; ///< with this work; a fold may take several
        std::vector<Seconds> posted;
        Seconds done = 0;
    };

    const Program& program(int rank) const {
        return question_.schedule[static_cast<std::size_t>(rank)];
    }
    const Step& step(StepOfRank at) const {
        return program(at.rank).steps[static_cast<std::size_t>(at.step)];
    }
    StepOfRank mate(StepOfRank at) const {
        return mates_[static_cast<std::size_t>(at.rank)][static_cast<std::size_t>(at.step)];
    }
    Rank& rank_of(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
    Bytes bytes_of(StepOfRank at) const;
    double active_in(const Step& step) const;

    void advance(int rank);
    void post(StepOfRank at);
    void spend(StepOfRank at);
    void spend_next(int rank);
    void spent(StepOfRank at);
    void get_ready(StepOfRank send, Readiness what);
    bool work_some(int rank);
    bool work_on(int rank, int step, Seconds seconds, bool ends);
    void end_work(int rank);
    void finish_message(StepOfRank at);
    void finish_step(StepOfRank at);
    void note(StepOfRank at, Activity activity, Seconds begin);

    const Question& question_;
    const World world_;
    const std::vector<std::vector<StepOfRank>> mates_;
    std::vector<Dependences> dependences_;
    std::vector<Rank> ranks_;
    Timeline timeline_;
};

} // namespace sextant::simulate
