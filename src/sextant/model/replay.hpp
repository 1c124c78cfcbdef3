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

/// What the messages of one play cost, each asked for once of those that look alike.
class MessageCosts {
  public:
    /// Keep what it is given alive.
    MessageCosts(const Question& question, const Prices& prices, const Prepared& prepared,
                 Traffic& traffic);

    /// A message, and whether it travels on links that it shares.
    struct Costly {
        const MessageCost* cost = nullptr;
        bool meets = false;
    };
    Costly of(StepOfRank send, StepOfRank receive);
    /// What the message may cost, as far as rank 0 alone decides it: where ranks share memory, the
    /// other side may have it copied or not.
    std::vector<Costly> possible(StepOfRank send, StepOfRank receive);

  private:
    Costly priced(Message message, int from, int to);
    bool is_lent(StepOfRank send, StepOfRank receive) const;
    bool is_made_there(StepOfRank send, StepOfRank receive) const;
    MessageCost price(const Message& message) const;

    using Look = std::tuple<Bytes, machine::Link, machine::Layout, Bytes, Bytes, bool, bool, bool>;

    const Question& question_;
    const Prices& prices_;
    const Prepared& prepared_;
    const WorkCosts work_;
    const Messages messages_;
    Traffic& traffic_;
    std::vector<Loans> loans_; ///< by rank, where ranks are threads of one process
    std::map<Look, MessageCost> costs_;
};

/// Something that happens at a time; what happens at one time happens in the order in which it was
/// found out.
struct Happening {
    enum Kind {
        finished, ///< a step has finished
        out_free, ///< the rank may begin its next send
        entering, ///< a message enters links that others share
        arriving, ///< a message is on its way, and the receiver may turn to it
        in_free,  ///< the rank may turn to the next message
        arrived,  ///< it is there; the processor takes it
        combining ///< the processor may have time for the operands of a fold
    } kind;
    Span time;
    StepOfRank at;
    std::uint64_t number = 0;

    bool operator<(const Happening& other) const { // the earliest is the largest of a queue
        return std::tie(other.time.median, other.number) < std::tie(time.median, number);
    }
};

/// Where one step stands. A fold has done what its operands up to `next` allow by `done`.
struct StepState {
    const MessageCost* cost = nullptr;
    Span posted, begun, done;
    std::uint32_t next = 0;
    bool is_posted = false, has_begun = false;
    bool meets = false;        ///< others, on shared links
    bool handed_over = false;  ///< to them, but its receiver does not wait for it yet
    bool travels = false;      ///< there
    Seconds on_links = 0;      ///< how long it did
    bool will_combine = false; ///< whether the processor will look at the fold again
};

/// What a rank does one at a time: its sends, or its receives.
struct Lane {
    std::queue<int> waiting; ///< steps, in the order in which they may begin
    Span free;
    bool wakes = false; ///< whether it will look at `waiting` again
};

/// Where one rank stands.
struct RankState {
    RankState(const Program& program, const Dependences& dependences)
        : walk(program, dependences), steps(program.steps.size()) {}

    Walk walk;
    std::vector<StepState> steps;
    Lane out, in;
    Span processor; ///< when it is free
    Span handing;   ///< and for messages that may interrupt work
};

/// One play of a schedule on a clock: what `critical_path` does.
class Play {
  public:
    Play(const Question& question, const Prices& prices, const Prepared& prepared);

    Prediction play();

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

    void expect(Happening::Kind kind, const Span& time, StepOfRank at) {
        happenings_.push({kind, time, at, count_++});
    }

    /// What happens next, to a rank or on links; false where nothing does.
    bool happen_next();
    void happen(const Happening& now);
    void begin(int rank);
    void finish(StepOfRank at, const Span& now);
    void start_ready(int rank, const Span& now);

    // Messages.

    void post(StepOfRank at, const Span& now);

    /// The next step of a lane that is free; none where nothing waits, or the lane is busy and will
    /// be looked at when it is free.
    int next_of(Lane& lane, Happening::Kind when_free, StepOfRank rank, const Span& now);
    void wake(Lane& lane, Happening::Kind when_free, StepOfRank rank);
    void send_next(StepOfRank rank, const Span& now);

    // Links that messages share.

    /// A message that nothing buffers travels once its receiver waits for it.
    void set_out(StepOfRank send);
    void enter_links(StepOfRank send);
    void leave_links(const Traffic::Left& left);
    static Span enters_links(const StepState& sent);

    /// When all of a message is at its receiver.
    static Span path_end(const StepState& sent);

    /// The receiver need turn to a message only so early that it ends with the message's path.
    void expect_arrival(StepOfRank from, StepOfRank to);

    /// Who waits for a message has it at the end of its path, even where the receiver's own time is
    /// longer: that then holds up what comes next. Who turns to it late spends his time on it
    /// after.
    void receive_next(StepOfRank rank, const Span& now);
    void take(StepOfRank at, const Span& now);

    /// The processor hands over or takes a message, one at a time; when that begins.
    Span occupy(int rank, bool interrupts, const Span& now, const Span& cost);

    // Work.

    /// Operands that come while the processor is busy, or at one time, are combined in one pass.
    void expect_combining(StepOfRank fold, const Span& now);
    void combine_when_free(StepOfRank fold, const Span& now);

    /// Whether a fold may begin that is to be one pass.
    bool all_readable(StepOfRank fold);

    /// Combines the operands that have become readable, as far as they come in order.
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
    Turns turns_;
    Traffic traffic_;
    MessageCosts costs_;
    std::vector<RankState> ranks_;
    std::priority_queue<Happening> happenings_;
    std::uint64_t count_ = 0;
    Timeline timeline_;
    Span end_;
};

} // namespace sextant::model
