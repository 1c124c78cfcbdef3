// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/replay.hpp"

#include "sextant/core/run_control.hpp"
#include "sextant/model/event_queue.hpp"
#include "sextant/schedule/walk.hpp"

#include <algorithm>
#include <cstdint>

namespace sextant::model {

MessageCosts::MessageCosts(const Question& question, const Prices& prices,
                           const PreparedSchedule& prepared, Traffic& traffic)
    : question_(question),
      prices_(prices),
      prepared_(prepared),
      work_(question),
      messages_(question),
      traffic_(traffic) {
    if (!shares_memory(question))
        return;
    for (std::size_t rank = 0; rank < question.schedule.size(); ++rank)
        loans_.emplace_back(question.schedule[rank], prepared.dependences[rank]);
}

MessageCosts::Costly MessageCosts::of(StepOfRank send, StepOfRank receive) {
    Message m = messages_.describe(send, receive);
    const bool sees = m.link == machine::Link::same_process;
    m.lent = sees && is_lent(send, receive);
    m.made_there = sees && is_made_there(send, receive);
    return priced(m, send.rank, receive.rank);
}

std::vector<MessageCosts::Costly> MessageCosts::possible(StepOfRank send, StepOfRank receive) {
    Message m = messages_.describe(send, receive);
    std::vector<Costly> all{priced(m, send.rank, receive.rank)};
    if (m.link != machine::Link::same_process)
        return all;
    const Loans& own = loans_[0];
    const bool sends = send.rank == 0;
    m.lent = sends ? own.may_lend(send.step) : !own.uses(receive.step).empty();
    if (m.lent)
        all.push_back(priced(m, send.rank, receive.rank));
    m.made_there = sends ? own.takes_made(send.step) || own.takes_folded(send.step)
                         : !m.lent && is_room(question_.schedule[0], prepared_.dependences[0],
                                              receive.step, question_.element_size, least_room);
    m.lent = false;
    if (m.made_there)
        all.push_back(priced(m, send.rank, receive.rank));
    return all;
}

MessageCosts::Costly MessageCosts::priced(Message m, int from, int to) {
    m.meets = prices_.share_links && !m.lent && !m.made_there && traffic_.takes(from, to);
    const MessageKey key{m.bytes,          m.link, m.layout,     m.sent_block,
                         m.received_block, m.lent, m.made_there, m.meets};
    auto found = costs_.find(key);
    if (found == costs_.end())
        found = costs_.emplace(key, price(m)).first;
    return {&found->second, m.meets};
}

/// Adds the sender's time to compress a message: scanning all elements and writing the compressed
/// ones, each priced as a multiple of the time for a copy (docs/measurements.md).
MessageCost MessageCosts::price(const Message& message) const {
    MessageCost cost = prices_.message(message);
    if (!question_.coded)
        return cost;
    constexpr double looking = .4, writing = 1.4;
    const Span pass = work_.copy(message.stands_for, message.stands_for) * looking +
                      work_.copy(message.bytes, message.bytes) * writing;
    for (Span* const part : {&cost.send, &cost.send_processor, &cost.full})
        *part = *part + pass;
    return cost;
}

bool MessageCosts::is_lent(StepOfRank send, StepOfRank receive) const {
    return loans_[static_cast<std::size_t>(send.rank)].may_lend(send.step) &&
           !loans_[static_cast<std::size_t>(receive.rank)].uses(receive.step).empty();
}

/// True if the sender's kernels or fold write the data directly into the receiver's buffer, because
/// the receiver does not use that memory before the message arrives.
bool MessageCosts::is_made_there(StepOfRank send, StepOfRank receive) const {
    const auto to = static_cast<std::size_t>(receive.rank);
    const Loans& sender = loans_[static_cast<std::size_t>(send.rank)];
    const bool computed = sender.takes_made(send.step);
    if (!loans_[to].uses(receive.step).empty() || (!computed && !sender.takes_folded(send.step)))
        return false;
    return is_room(question_.schedule[to], prepared_.dependences[to], receive.step,
                   question_.element_size, computed ? least_promised_room : least_room);
}

namespace {

constexpr Elements work_of_event = 64; // for check_cancelled()

Span at_least_zero(const Span& span) {
    return later(span, Span());
}

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
    std::vector<int> waiting; ///< steps, in the order in which they may begin
    std::size_t first = 0;    ///< index of the next one in `waiting`
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

/// One replay of a schedule on a simulated clock.
class Replay {
  public:
    Replay(const Question& question, const Prices& prices, const PreparedSchedule& prepared)
        : question_(question),
          schedule_(question.schedule),
          prices_(prices),
          work_(question),
          mates_(prepared.mates),
          dependences_(prepared.dependences),
          folding_(question),
          turns_(question),
          traffic_(question),
          costs_(question, prices, prepared, traffic_) {
        ranks_.reserve(schedule_.size());
        for (std::size_t rank = 0; rank < schedule_.size(); ++rank)
            ranks_.emplace_back(schedule_[rank], dependences_[rank]);
    }

    Prediction replay() {
        for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank)
            begin(rank);
        while (happen_next())
            check_cancelled(work_of_event);
        for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank)
            check_finished(rank);
        // Subtractions along the path can invert an interval.
        Prediction prediction{end_.median,
                              std::min(end_.low, end_.median),
                              std::max(end_.high, end_.median),
                              {},
                              work_.remarks(schedule_)};
        if (question_.timeline)
            prediction.timeline = timeline_.finish(end_.median);
        return prediction;
    }

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
        if (free_events_.empty()) {
            free_events_.push_back(static_cast<std::uint32_t>(events_.size()));
            events_.emplace_back();
        }
        events_[free_events_.back()] = {kind, time, at};
        queue_.push(time.median, free_events_.back());
        free_events_.pop_back();
    }

    /// Handles the next event of a rank or of the shared links; false if there is none.
    bool happen_next() {
        const Seconds on_links = prices_.share_links ? traffic_.next() : never;
        if (on_links < queue_.next()) {
            for (const Traffic::Left& left : traffic_.pass())
                leave_links(left);
            return true;
        }
        if (queue_.empty())
            return false;
        free_events_.push_back(queue_.pop());
        happen(ReplayEvent(events_[free_events_.back()]));
        return true;
    }

    void happen(const ReplayEvent& now) {
        switch (now.kind) {
        case ReplayEvent::finished:
            return finish(now.at, now.time);
        case ReplayEvent::out_free:
            rank_of(now.at).out.wakes = false;
            return send_next(now.at, now.time);
        case ReplayEvent::entering:
            return enter_links(now.at);
        case ReplayEvent::arriving:
            rank_of(now.at).in.waiting.push_back(now.at.step);
            return receive_next(now.at, now.time);
        case ReplayEvent::in_free:
            rank_of(now.at).in.wakes = false;
            return receive_next(now.at, now.time);
        case ReplayEvent::arrived:
            return take(now.at, now.time);
        case ReplayEvent::combining:
            state(now.at).will_combine = false;
            return combine_when_free(now.at, now.time);
        }
    }

    void begin(int rank) {
        const auto& steps = program(rank).steps;
        for (int i = 0; i < static_cast<int>(steps.size()); ++i) {
            if (steps[static_cast<std::size_t>(i)].verb == Verb::fold)
                combine({rank, i}, {});
        }
        start_ready(rank, {});
    }

    void finish(StepOfRank at, const Span& now) {
        end_ = later(end_, now);
        rank_of(at).walk.finish(at.step);
        const auto& dependences = dependences_[static_cast<std::size_t>(at.rank)];
        for (const Dependences::Edge& edge : dependences.after(at.step)) {
            const StepOfRank next{at.rank, static_cast<int>(edge.step)};
            if (edge.region != Dependences::commit && step(next).verb == Verb::fold)
                expect_combining(next, now);
        }
        start_ready(at.rank, now);
    }

    void start_ready(int rank, const Span& now) {
        Walk& walk = ranks_[static_cast<std::size_t>(rank)].walk;
        for (int s = walk.next_message(); s != Walk::none; s = walk.next_message())
            post({rank, s}, now);
        for (int s = walk.next_work(); s != Walk::none; s = walk.next_work()) {
            const StepOfRank at{rank, s};
            const Verb verb = step(at).verb;
            if (verb == Verb::fold)
                combine(at, now);
            else
                work(at, activity_of(verb), work_.of(program(rank), step(at)), now);
            expect(ReplayEvent::finished, later(state(at).done, now), at);
        }
    }

    // Messages.

    void post(StepOfRank at, const Span& now) {
        const StepOfRank other = mate(at);
        const bool sends = step(at).verb == Verb::send;
        const StepOfRank from = sends ? at : other, to = sends ? other : at;
        StepState& own = state(at);
        own.posted = now;
        own.is_posted = true;
        if (!state(from).cost) {
            const MessageCosts::Costly found = costs_.of(from, to);
            state(from).cost = found.cost;
            state(from).meets = found.meets;
        }
        const bool waits = state(from).cost->rendezvous && !state(from).meets;
        const bool both = state(from).is_posted && state(to).is_posted;
        const bool on_its_way = state(from).has_begun && !state(from).travels;
        if (waits ? both : sends) {
            rank_of(from).out.waiting.push_back(from.step);
            send_next(from, now);
        } else if (state(from).handed_over) {
            set_out(from);
        }
        if (!sends && on_its_way)
            expect_arrival(from, to);
    }

    /// Returns the next step of a lane if the lane is free; Walk::none if no step waits, or if the
    /// lane is busy and a wake-up is queued.
    int next_of(Lane& lane, ReplayEvent::Kind when_free, StepOfRank rank, const Span& now) {
        if (lane.first == lane.waiting.size() || lane.wakes)
            return Walk::none;
        if (lane.free.median > now.median) {
            wake(lane, when_free, rank);
            return Walk::none;
        }
        const int step = lane.waiting[lane.first++];
        if (lane.first == lane.waiting.size())
            lane.waiting.resize(lane.first = 0);
        return step;
    }

    void wake(Lane& lane, ReplayEvent::Kind when_free, StepOfRank rank) {
        lane.wakes = true;
        expect(when_free, lane.free, rank);
    }

    void send_next(StepOfRank rank, const Span& now) {
        RankState& r = rank_of(rank);
        const StepOfRank at{rank.rank, next_of(r.out, ReplayEvent::out_free, rank, now)};
        if (at.step == Walk::none)
            return;
        StepState& own = state(at);
        const MessageCost& cost = *own.cost;
        own.begun = later(now, r.out.free);
        if (cost.send_processor.median > 0)
            own.begun = occupy(at.rank, own.meets, own.begun, cost.send_processor);
        r.out.free = own.begun + cost.send;
        note(at, Activity::send, own.begun, r.out.free);
        wake(r.out, ReplayEvent::out_free, at);
        if (own.meets) {
            own.handed_over = true;
            return set_out(at);
        }
        own.has_begun = true;
        expect(ReplayEvent::finished, r.out.free, at);
        if (state(mate(at)).is_posted)
            expect_arrival(at, mate(at));
    }

    /// Begins the rank's next receive. A receiver that is already waiting has the message at its
    /// arrival, even if the receive time is longer; the rest of the receive time delays the next
    /// receive. A receiver that starts late has the message after the receive time.
    void receive_next(StepOfRank rank, const Span& now) {
        RankState& r = rank_of(rank);
        const StepOfRank at{rank.rank, next_of(r.in, ReplayEvent::in_free, rank, now)};
        if (at.step == Walk::none)
            return;
        const StepState& sent = state(mate(at));
        const MessageCost& cost = *sent.cost;
        const Span there = path_end(sent) - cost.receive_processor;
        const Span turn = later(state(at).posted, r.in.free);
        r.in.free = later(there, turn + at_least_zero(cost.receive - cost.receive_processor));
        end_ = later(end_, r.in.free);
        const Span done = turn.median > sent.begun.median ? r.in.free : there;
        if (cost.receive_processor.median > 0) {
            expect(ReplayEvent::arrived, done, at);
        } else {
            note(at, Activity::receive, state(at).posted, done);
            expect(ReplayEvent::finished, done, at);
        }
        wake(r.in, ReplayEvent::in_free, at);
    }

    void take(StepOfRank at, const Span& now) {
        const StepState& sent = state(mate(at));
        const Span cost = sent.cost->receive_processor;
        const Span done = occupy(at.rank, sent.meets, now, cost) + cost;
        note(at, Activity::receive, state(at).posted, done);
        expect(ReplayEvent::finished, done, at);
    }

    /// Occupies the processor to hand over or receive a message, one message at a time; returns the
    /// start time.
    Span occupy(int rank, bool interrupts, const Span& now, const Span& cost) {
        RankState& r = ranks_[static_cast<std::size_t>(rank)];
        const Span begin =
            turns_.begin(rank, later(now, interrupts ? r.handing : r.processor), cost);
        r.processor = later(r.processor, begin) + cost;
        r.handing = begin + cost;
        return begin;
    }

    // Shared links.

    /// Makes a message enter its links; a rendezvous message waits until its receive is posted.
    void set_out(StepOfRank send) {
        StepState& own = state(send);
        const StepState& other = state(mate(send));
        const Span handed_over = own.begun + own.cost->send;
        if (!own.cost->rendezvous)
            expect(ReplayEvent::finished, handed_over, send);
        else if (!other.is_posted)
            return;
        const Span enters = own.cost->rendezvous ? later(handed_over, other.posted) : handed_over;
        own.begun = enters - own.cost->send;
        own.has_begun = own.travels = true;
        own.handed_over = false;
        expect(ReplayEvent::entering, enters, send);
    }

    void enter_links(StepOfRank send) {
        traffic_.enter(send, mate(send).rank, bytes_of(question_, program(send.rank), step(send)),
                       enters_links(state(send)).median);
    }

    void leave_links(const Traffic::Left& left) {
        const StepOfRank send = left.send;
        StepState& own = state(send);
        own.travels = false;
        own.on_links = left.time - enters_links(own).median;
        if (own.cost->rendezvous)
            expect(ReplayEvent::finished, path_end(own) - own.cost->receive, send);
        if (state(mate(send)).is_posted)
            expect_arrival(send, mate(send));
    }

    static Span enters_links(const StepState& sent) { return sent.begun + sent.cost->send; }

    /// The time at which a message has completely arrived.
    static Span path_end(const StepState& sent) {
        return sent.begun + sent.cost->full + Span(sent.on_links);
    }

    /// Queues an event at the latest time at which the receiver can begin to receive a message and
    /// still finish when the path ends.
    void expect_arrival(StepOfRank from, StepOfRank to) {
        const StepState& sent = state(from);
        const Span latest = path_end(sent) - sent.cost->receive;
        expect(ReplayEvent::arriving, later(later(sent.begun, state(to).posted), latest), to);
    }

    // Work.

    /// Queues a check of the fold. Operands that arrive while the processor is busy, or at the same
    /// time, are combined in one pass.
    void expect_combining(StepOfRank fold, const Span& now) {
        StepState& own = state(fold);
        if (own.will_combine || own.next == step(fold).count)
            return;
        own.will_combine = true;
        expect(ReplayEvent::combining, later(now, rank_of(fold).processor), fold);
    }

    void combine_when_free(StepOfRank fold, const Span& now) {
        if (rank_of(fold).processor.median > now.median)
            expect_combining(fold, now);
        else
            combine(fold, now);
    }

    /// True if a fold that must be done in one pass may begin.
    bool all_readable(StepOfRank fold) {
        const Walk& walk = rank_of(fold).walk;
        const Step& what = step(fold);
        for (std::uint32_t operand = 0; operand < what.count; ++operand) {
            if (!walk.readable(what.first + operand))
                return false;
        }
        return true;
    }

    /// Combines the readable operands of a fold, in order.
    void combine(StepOfRank fold, const Span& now) {
        const Step& what = step(fold);
        StepState& own = state(fold);
        if (question_.folds_at_once && !all_readable(fold))
            return;
        const Walk& walk = rank_of(fold).walk;
        int operands = own.next > 0 ? 1 : 0; // operands already combined count as one
        for (; own.next < what.count && walk.readable(what.first + own.next); ++own.next)
            ++operands;
        if (operands > 1)
            work(fold, Activity::fold,
                 work_.fold(what.to.elements(), operands, folding_.is_alone(fold.rank, what.round)),
                 now);
    }

    void work(StepOfRank at, Activity activity, const Span& cost, const Span& now) {
        RankState& r = rank_of(at);
        const Span begin = turns_.begin(at.rank, later(now, r.processor), cost);
        r.processor = begin + cost;
        if (prices_.blocking) {
            for (Lane* lane : {&r.in, &r.out})
                lane->free = later(lane->free, begin) + cost;
        }
        state(at).done = r.processor;
        note(at, activity, begin, r.processor);
    }

    void note(StepOfRank at, Activity activity, const Span& begin, const Span& end) {
        if (question_.timeline)
            timeline_.add(program(at.rank), at, activity, begin.median, end.median);
    }

    void check_finished(int rank) {
        const Walk& walk = ranks_[static_cast<std::size_t>(rank)].walk;
        if (walk.done())
            return;
        int stuck = 0;
        while (walk.finished(stuck))
            ++stuck;
        throw fault(program(rank), {rank, stuck}, "waits forever");
    }

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
    EventQueue queue_; ///< of indices into `events_`
    std::vector<ReplayEvent> events_;
    std::vector<std::uint32_t> free_events_;
    Timeline timeline_;
    Span end_;
};

} // namespace

Prediction replay(const Question& question, const Prices& prices,
                  const PreparedSchedule& prepared) {
    return Replay(question, prices, prepared).replay();
}

} // namespace sextant::model
