// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/critical_path.hpp"
#include "sextant/model/link_contention.hpp"
#include "sextant/model/work_costs.hpp"
#include "sextant/schedule/loans.hpp"
#include "sextant/schedule/trace.hpp"
#include "sextant/schedule/walk.hpp"

#include <cstdint>
#include <map>
#include <queue>
#include <tuple>
#include <vector>

namespace sextant::model {

/// The costs of the messages of a replay. Messages with the same properties are priced once.
class MessageCosts {
  public:
    /// Keeps references to its arguments.
    MessageCosts(const Question& question, const Prices& prices, const PreparedSchedule& prepared,
                 Traffic& traffic);

    /// The cost of a message, and whether it uses shared links.
    struct Costly {
        const MessageCost* cost = nullptr;
        bool meets = false;
    };
    Costly of(StepOfRank send, StepOfRank receive);
    /// All costs that the message may have, given only rank 0's side of it: with shared memory, the
    /// other side decides whether the message is copied.
    std::vector<Costly> possible(StepOfRank send, StepOfRank receive);

  private:
    Costly priced(Message message, int from, int to);
    bool is_lent(StepOfRank send, StepOfRank receive) const;
    bool is_made_there(StepOfRank send, StepOfRank receive) const;
    MessageCost price(const Message& message) const;

    using MessageKey =
        std::tuple<Bytes, machine::Link, machine::Layout, Bytes, Bytes, bool, bool, bool>;

    const Question& question_;
    const Prices& prices_;
    const PreparedSchedule& prepared_;
    const WorkCosts work_;
    const Messages messages_;
    Traffic& traffic_;
    std::vector<Loans> loans_; ///< by rank, if ranks are threads of one process
    std::map<MessageKey, MessageCost> costs_;
};

/// An event. Events at the same time are handled in the order in which they were queued.
struct ReplayEvent {
    enum Kind {
        finished, ///< a step has finished
        out_free, ///< the rank may begin its next send
        entering, ///< a message enters shared links
        arriving, ///< a message is in flight, and its receiver may begin to receive it
        in_free,  ///< the rank may begin its next receive
        arrived,  ///< a message has arrived; the processor receives it
        combining ///< the processor may be free to combine operands of a fold
    } kind;
    Span time;
    StepOfRank at;
    std::uint64_t number = 0;

    bool operator<(const ReplayEvent& other) const { // earliest first in a priority queue
        return std::tie(other.time.median, other.number) < std::tie(time.median, number);
    }
};

/// The state of one step. For a fold, the operands before index `next` have been combined at the
/// time `done`.
struct StepState {
    const MessageCost* cost = nullptr;
    Span posted, begun, done;
    std::uint32_t next = 0;
    bool is_posted = false, has_begun = false;
    bool meets = false;        ///< the step's message uses shared links
    bool handed_over = false;  ///< the message is handed over, but its receive is not posted
    bool travels = false;      ///< the message is on shared links now
    Seconds on_links = 0;      ///< time that the message spent on shared links
    bool will_combine = false; ///< the processor will check the fold again
};

/// Operations that a rank does one at a time: its sends, or its receives.
struct Lane {
    std::queue<int> waiting; ///< steps, in the order in which they may begin
    Span free;
    bool wakes = false; ///< a wake-up that checks `waiting` is queued
};

/// The state of one rank.
struct RankState {
    RankState(const Program& program, const Dependences& dependences)
        : walk(program, dependences), steps(program.steps.size()) {}

    Walk walk;
    std::vector<StepState> steps;
    Lane out, in;
    Span processor; ///< time from which the processor is free
    Span handing;   ///< time from which messages that interrupt work can be handled
};

/// One replay of a schedule on a simulated clock; implements `critical_path`.
class Replay {
  public:
    Replay(const Question& question, const Prices& prices, const PreparedSchedule& prepared);

    Prediction replay();

  private:
    const Program& program(int rank) const { return schedule_[static_cast<std::size_t>(rank)]; }
    const Step& step(StepOfRank at) const {
        return program(at.rank).steps[static_cast<std::size_t>(at.step)];
    }
    RankState& rank_of(StepOfRank at) { return ranks_[static_cast<std::size_t>(at.rank)]; }
    StepState& state(StepOfRank at) { return rank_of(at).steps[static_cast<std::size_t>(at.step)]; }
    StepOfRank mate(StepOfRank at) const {
        return mates_[static_cast<std::size_t>(at.rank)][static_cast<std::size_t>(at.step)];
    }

    void expect(ReplayEvent::Kind kind, const Span& time, StepOfRank at) {
        events_.push({kind, time, at, count_++});
    }

    /// Handles the next event of a rank or of the shared links; false if there is none.
    bool happen_next();
    void happen(const ReplayEvent& now);
    void begin(int rank);
    void finish(StepOfRank at, const Span& now);
    void start_ready(int rank, const Span& now);

    // Functions for messages.

    void post(StepOfRank at, const Span& now);

    /// The next step of a lane if the lane is free; none if no step waits, or if the lane is busy
    /// and a wake-up is queued.
    int next_of(Lane& lane, ReplayEvent::Kind when_free, StepOfRank rank, const Span& now);
    void wake(Lane& lane, ReplayEvent::Kind when_free, StepOfRank rank);
    void send_next(StepOfRank rank, const Span& now);

    // Functions for shared links.

    /// Puts a message on its links; a rendezvous message waits until its receive is posted.
    void set_out(StepOfRank send);
    void enter_links(StepOfRank send);
    void leave_links(const Traffic::Left& left);
    static Span enters_links(const StepState& sent);

    /// The time at which a message has completely arrived.
    static Span path_end(const StepState& sent);

    /// Queues an event at the latest time at which the receiver can begin to receive a message and
    /// still finish when the path ends.
    void expect_arrival(StepOfRank from, StepOfRank to);

    /// Begins the rank's next receive. A receiver that is already waiting has the message when it
    /// arrives, even if the receive time is longer; the rest of that time delays its next receive.
    /// A receiver that starts late has the message after the receive time.
    void receive_next(StepOfRank rank, const Span& now);
    void take(StepOfRank at, const Span& now);

    /// Occupies the processor to hand over or receive a message, one at a time; returns the start
    /// time.
    Span occupy(int rank, bool interrupts, const Span& now, const Span& cost);

    // Functions for work.

    /// Operands that arrive while the processor is busy, or at the same time, are combined in one
    /// pass.
    void expect_combining(StepOfRank fold, const Span& now);
    void combine_when_free(StepOfRank fold, const Span& now);

    /// True if a fold that must be done in one pass may begin.
    bool all_readable(StepOfRank fold);

    /// Combines the readable operands of a fold, in order.
    void combine(StepOfRank fold, const Span& now);
    void work(StepOfRank at, Activity activity, const Span& cost, const Span& now);
    void note(StepOfRank at, Activity activity, const Span& begin, const Span& end);
    void check_finished(int rank);

    const Question& question_;
    const Schedule& schedule_;
    const Prices& prices_;
    WorkCosts work_;
    const std::vector<std::vector<StepOfRank>>& mates_;
    const std::vector<Dependences>& dependences_;
    const FoldingRanks folding_;
    CoreQueue turns_;
    Traffic traffic_;
    MessageCosts costs_;
    std::vector<RankState> ranks_;
    std::priority_queue<ReplayEvent> events_;
    std::uint64_t count_ = 0;
    Timeline timeline_;
    Span end_;
};

} // namespace sextant::model
