// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/matching.hpp"
#include "sextant/schedule/program.hpp"
#include "sextant/schedule/trace.hpp"
#include "sextant/schedule/walk.hpp"
#include "sextant/simulate/simulation.hpp"

#include <functional>
#include <span>
#include <vector>

namespace sextant::simulate {

/// The folds, copies and computations of one rank, and which operands of its folds have been
/// combined, like the executor's Folding but without data.
class RankWork {
  public:
    RankWork(const Program& program, const Question& question);

    /// Some work on a step.
    struct Pass {
        int step = Walk::none;
        Seconds seconds = 0;
    };
    /// Combines neighbouring operands of an unfinished fold in one pass; Pass::step is Walk::none
    /// if no operands can be combined.
    Pass combine_some(const Walk& walk);
    /// The rest of a step whose operands have all arrived.
    Pass complete(int step);

  private:
    struct Item {
        int step = 0;
        std::uint32_t first = 0;    ///< for a fold: index of the first operand's region
        std::uint32_t operands = 0; ///< 0 for copies and computations, which have one pass
        std::uint32_t first_run = 0;
        bool finished = false;
        double elements = 0, active = 1; ///< for a fold
        Seconds seconds = 0;             ///< for a fold: per application and element
    };

    Pass find(const Item& fold, const Walk& walk);

    Association association_;
    std::vector<Item> items_; ///< in step order
    /// Combined runs of neighbouring operands, fold by fold: the end of each run, by its first
    /// operand. Initially each operand is its own run.
    std::vector<std::uint32_t> run_end_;
    std::size_t first_unfinished_ = 0;
};

/// The activities of a rank's processor.
enum class Work : std::uint8_t {
    message, ///< handing over or receiving a message
    step     ///< a fold, copy or computation
};

/// The interface of a SimulatedRun to simulated time. `send` and `work` return at once; their ends
/// are reported later to `SimulatedRun::arrived` and `SimulatedRun::worked`.
struct SimulatedTime {
    std::function<Seconds()> now;
    /// Starts a message, identified by the step that sends it.
    std::function<void(StepOfRank send, int to, Bytes bytes)> send;
    /// Starts work of a rank. A rank has at most one piece of work of each kind in progress.
    std::function<void(int rank, Work work, Seconds seconds)> work;
};

/// Simulates the execution of a schedule, without pixels, in simulated time: starts messages and
/// work as earlier ones end.
///
/// A rank has one processor: it works on one step at a time, and hands over or receives one message
/// at a time, which interrupts a step. A message enters the network once its sender has handed it
/// over and its receiver waits for it. On arrival the send is complete; the receive is complete
/// after the receive overhead.
///
/// Throws std::logic_error if messages do not match. Keeps references to its arguments.
class SimulatedRun {
  public:
    SimulatedRun(const Question& question, SimulatedTime world);
    SimulatedRun(const SimulatedRun&) = delete;
    SimulatedRun& operator=(const SimulatedRun&) = delete;

    /// Starts all ranks.
    void begin();
    /// Reports the arrival of the message that step `send` sends.
    void arrived(StepOfRank send);
    /// Reports that a rank's work of kind `work` has ended.
    void worked(int rank, Work work);

    /// The result, once nothing is in progress. Throws std::logic_error naming deadlocked ranks and
    /// their steps.
    Simulation finish();

    /// The state of a message, stored for the step that sends it. It enters the network when it is
    /// handed over and awaited.
    enum State : std::uint8_t { packed = 1, handed_over = 2, awaited = 4 };

    /// A message of a rank, so that events do not have to search its program.
    struct Message {
        Bytes bytes = 0;
        std::uint32_t peer : 27 = 0;
        std::uint32_t is_strided : 1 = 0; ///< not contiguous in memory
        std::uint32_t sends : 1 = 0;
        std::uint32_t state : 3 = 0; ///< of a send
        int step_of_peer = -1;

        bool has_been(State what) const { return (state & what) != 0; }
        /// The other side of the message.
        StepOfRank mate() const { return {static_cast<int>(peer), step_of_peer}; }
    };
    const Message& message_of(StepOfRank at) const {
        return messages_of(at.rank)[static_cast<std::size_t>(at.step)];
    }
    /// By step; empty for other steps.
    std::span<const Message> messages_of(int rank) const {
        return ranks_[static_cast<std::size_t>(rank)].messages;
    }

  private:
    struct Rank {
        Rank(const Program& program, Dependences& dependences, const Question& question)
            : walk(program, dependences, dependences.take_needs()), work(program, question) {}

        Walk walk;
        RankWork work;
        std::vector<Message> messages; ///< by step
        /// Sends and receives to process. A send is packed and handed over; if ranks wait while
        /// sending, it enters the network only when no other message of this rank travels.
        std::vector<int> queue;
        std::size_t head = 0;         ///< index of the first one in `queue`
        std::size_t current = 0;      ///< index of the message in progress, or found last
        bool handles_message = false; ///< true if a message is in progress
        bool is_sending = false;      ///< a message of this rank travels, and no other may start
        int step = Walk::none;        ///< step in progress
        Seconds step_began = 0;
        bool step_ends = false;     ///< true if this work ends the step; a fold may need more work
        bool operands_wait = false; ///< false if no operands can be combined before a step ends
        std::vector<Seconds> posted;
        Seconds done = 0;
    };

    Rank& rank_of(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
    Message& message(StepOfRank at) {
        return rank_of(at.rank).messages[static_cast<std::size_t>(at.step)];
    }
    void advance(int rank);
    void post(StepOfRank at);
    void spend(StepOfRank at);
    bool find_next(int rank);
    void spend_next(int rank);
    void spent(StepOfRank at);
    void remove_current(int rank);
    void get_ready(StepOfRank send, State what);
    Seconds packing(StepOfRank at);
    Seconds cost_of(StepOfRank at);
    bool work_some(int rank);
    bool work_on(int rank, const RankWork::Pass& pass, bool ends);
    void end_work(int rank);
    void finish_message(StepOfRank at);
    void finish_step(StepOfRank at);
    void note(StepOfRank at, Seconds begin);

    const Question& question_;
    const SimulatedTime world_;
    std::vector<Dependences> dependences_;
    std::vector<Rank> ranks_;
    Schedule programs_; ///< only for a timeline
    Timeline timeline_;
};

/// Work of a rank that ends at a known time unless it is interrupted.
struct TimedWork {
    int rank = 0;
    Work work = Work::message;
};

/// One processor per rank: messages interrupt a step, which resumes afterwards.
class Processors {
  public:
    /// The interface of Processors to simulated time.
    struct SimulatedTime {
        std::function<Seconds()> now;
        /// Requests a call of Processors::end at the given time.
        std::function<void(Seconds, const TimedWork&)> foresee;
        /// Reports the end of a rank's work.
        std::function<void(int rank, Work)> worked;
    };

    Processors(std::size_t ranks, SimulatedTime world)
        : world_(std::move(world)), processors_(ranks) {}

    /// Starts work that takes `seconds`. A rank works on at most one message and one step at a
    /// time.
    void begin(int rank, Work work, Seconds seconds);
    /// Ends a period of work if its end time has come; does nothing if it was interrupted.
    void end(const TimedWork& timed);

  private:
    struct Processor {
        bool handles_message = false;
        bool has_step = false, works = false; ///< `works`: the step is running
        Seconds step_left = 0, step_ends = 0; ///< when interrupted, and when running
    };

    Processor& processor(int rank) { return processors_[static_cast<std::size_t>(rank)]; }
    void interrupt(Processor& own);
    void resume(int rank);

    const SimulatedTime world_;
    std::vector<Processor> processors_;
};

} // namespace sextant::simulate
