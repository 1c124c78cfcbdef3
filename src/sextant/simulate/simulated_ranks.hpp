// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/matching.hpp"
#include "sextant/schedule/program.hpp"
#include "sextant/schedule/trace.hpp"
#include "sextant/schedule/walk.hpp"
#include "sextant/simulate/simulation.hpp"

#include <functional>
#include <queue>
#include <vector>

namespace sextant::simulate {

/// Which operands of one rank's folds have been combined, without the operands: the executor's
/// folding, counted.
class Folding {
  public:
    Folding(const Program& program, Association association);

    /// A pass over neighbours: `applications` more of the operator, on each element.
    struct Pass {
        int step = Walk::none;
        int applications = 0;
    };
    /// Combines neighbouring operands of some unfinished fold; none where nothing can be.
    Pass combine_some(const Walk& walk);

    /// Combines the rest of a fold whose operands are all there; how many applications that takes.
    int complete(int step);

  private:
    /// For each operand, where the run that it lies in ends; itself and no more at first.
    struct Fold {
        int step = 0;
        std::vector<std::uint32_t> run_end; ///< by the first operand of a run
        bool finished = false;
    };

    Pass find(Fold& fold, const Walk& walk) const;
    Fold& fold_of(int step);

    const Program& program_;
    const Association association_;
    std::vector<Fold> folds_; ///< in step order
    std::size_t first_unfinished_ = 0;
};

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

/// Work of a rank that ends at a time, if nothing interrupts it.
struct Stint {
    int rank = 0;
    Work work = Work::message;
    int piece = 0; ///< of its work on a step
};

/// What occupies ranks that have a processor each: messages interrupt a step, which then goes on
/// where it was.
class Processors {
  public:
    /// What processors need of the world they are in.
    struct World {
        std::function<Seconds()> now;
        /// At that time `end` is to be called.
        std::function<void(Seconds, const Stint&)> foresee;
        /// What a rank worked on has ended.
        std::function<void(int rank, Work)> worked;
    };

    Processors(std::size_t ranks, World world) : world_(std::move(world)), processors_(ranks) {}

    /// A rank works for so long, a message at a time and a step at a time.
    void begin(int rank, Work work, Seconds seconds);
    /// The time of a stint has come; nothing if it was interrupted.
    void end(const Stint& stint);

  private:
    struct Processor {
        bool handles_message = false;
        bool has_step = false, works = false; ///< on it; not while interrupted
        Seconds step_left = 0, resumed = 0;
        int piece = 0; ///< counts interruptions, after which an end that was foreseen does not come
    };

    Processor& processor(int rank) { return processors_[static_cast<std::size_t>(rank)]; }
    void interrupt(Processor& mine);
    void resume(int rank);

    const World world_;
    std::vector<Processor> processors_;
};

} // namespace sextant::simulate
