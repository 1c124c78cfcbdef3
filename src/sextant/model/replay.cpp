// SPDX-License-Identifier: BSD-3-Clause
// Implements the costs of messages, and the replay of a schedule's messages and work.

#include "sextant/model/replay.hpp"

#include <algorithm>

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
/// ones, each priced as a multiple of the time of a copy (docs/measurements.md).
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

Span at_least_zero(const Span& span) {
    return later(span, Span());
}

} // namespace

void Replay::post(StepOfRank at, const Span& now) {
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
        rank_of(from).out.waiting.push(from.step);
        send_next(from, now);
    } else if (state(from).handed_over) {
        set_out(from);
    }
    if (!sends && on_its_way)
        expect_arrival(from, to);
}

int Replay::next_of(Lane& lane, ReplayEvent::Kind when_free, StepOfRank rank, const Span& now) {
    if (lane.waiting.empty() || lane.wakes)
        return Walk::none;
    if (lane.free.median > now.median) {
        wake(lane, when_free, rank);
        return Walk::none;
    }
    const int step = lane.waiting.front();
    lane.waiting.pop();
    return step;
}

void Replay::wake(Lane& lane, ReplayEvent::Kind when_free, StepOfRank rank) {
    lane.wakes = true;
    expect(when_free, lane.free, rank);
}

void Replay::send_next(StepOfRank rank, const Span& now) {
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

void Replay::set_out(StepOfRank send) {
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

void Replay::enter_links(StepOfRank send) {
    traffic_.enter(send, mate(send).rank, bytes_of(question_, program(send.rank), step(send)),
                   enters_links(state(send)).median);
}

void Replay::leave_links(const Traffic::Left& left) {
    const StepOfRank send = left.send;
    StepState& own = state(send);
    own.travels = false;
    own.on_links = left.time - enters_links(own).median;
    if (own.cost->rendezvous)
        expect(ReplayEvent::finished, path_end(own) - own.cost->receive, send);
    if (state(mate(send)).is_posted)
        expect_arrival(send, mate(send));
}

Span Replay::enters_links(const StepState& sent) {
    return sent.begun + sent.cost->send;
}

Span Replay::path_end(const StepState& sent) {
    return sent.begun + sent.cost->full + Span(sent.on_links);
}

void Replay::expect_arrival(StepOfRank from, StepOfRank to) {
    const StepState& sent = state(from);
    const Span latest = path_end(sent) - sent.cost->receive;
    expect(ReplayEvent::arriving, later(later(sent.begun, state(to).posted), latest), to);
}

void Replay::receive_next(StepOfRank rank, const Span& now) {
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

void Replay::take(StepOfRank at, const Span& now) {
    const StepState& sent = state(mate(at));
    const Span cost = sent.cost->receive_processor;
    const Span done = occupy(at.rank, sent.meets, now, cost) + cost;
    note(at, Activity::receive, state(at).posted, done);
    expect(ReplayEvent::finished, done, at);
}

Span Replay::occupy(int rank, bool interrupts, const Span& now, const Span& cost) {
    RankState& r = ranks_[static_cast<std::size_t>(rank)];
    const Span begin = turns_.begin(rank, later(now, interrupts ? r.handing : r.processor), cost);
    r.processor = later(r.processor, begin) + cost;
    r.handing = begin + cost;
    return begin;
}

void Replay::expect_combining(StepOfRank fold, const Span& now) {
    StepState& own = state(fold);
    if (own.will_combine || own.next == step(fold).count)
        return;
    own.will_combine = true;
    expect(ReplayEvent::combining, later(now, rank_of(fold).processor), fold);
}

void Replay::combine_when_free(StepOfRank fold, const Span& now) {
    if (rank_of(fold).processor.median > now.median)
        expect_combining(fold, now);
    else
        combine(fold, now);
}

bool Replay::all_readable(StepOfRank fold) {
    const Walk& walk = rank_of(fold).walk;
    const Step& what = step(fold);
    for (std::uint32_t operand = 0; operand < what.count; ++operand) {
        if (!walk.readable(what.first + operand))
            return false;
    }
    return true;
}

void Replay::combine(StepOfRank fold, const Span& now) {
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

void Replay::work(StepOfRank at, Activity activity, const Span& cost, const Span& now) {
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

} // namespace sextant::model
