// SPDX-License-Identifier: BSD-3-Clause
// How messages leave, travel and come to their receivers.
#include "sextant/model/play.hpp"

namespace sextant::model {

namespace {

Span at_least_zero(const Span& span) {
    return later(span, Span());
}

} // namespace

void Play::post(StepOfRank at, const Span& now) {
    const StepOfRank other = mate(at);
    const bool sends = step(at).verb == Verb::send;
    const StepOfRank from = sends ? at : other, to = sends ? other : at;
    StepState& mine = state(at);
    mine.posted = now;
    mine.is_posted = true;
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

int Play::next_of(Lane& lane, Happening::Kind when_free, StepOfRank rank, const Span& now) {
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

void Play::wake(Lane& lane, Happening::Kind when_free, StepOfRank rank) {
    lane.wakes = true;
    expect(when_free, lane.free, rank);
}

void Play::send_next(StepOfRank rank, const Span& now) {
    RankState& r = rank_of(rank);
    const StepOfRank at{rank.rank, next_of(r.out, Happening::out_free, rank, now)};
    if (at.step == Walk::none)
        return;
    StepState& mine = state(at);
    const MessageCost& cost = *mine.cost;
    mine.begun = later(now, r.out.free);
    if (cost.send_processor.median > 0)
        mine.begun = occupy(at.rank, mine.meets, mine.begun, cost.send_processor);
    r.out.free = mine.begun + cost.send;
    note(at, Activity::send, mine.begun, r.out.free);
    wake(r.out, Happening::out_free, at);
    if (mine.meets) {
        mine.handed_over = true;
        return set_out(at);
    }
    mine.has_begun = true;
    expect(Happening::finished, r.out.free, at);
    if (state(mate(at)).is_posted)
        expect_arrival(at, mate(at));
}

void Play::set_out(StepOfRank send) {
    StepState& mine = state(send);
    const StepState& other = state(mate(send));
    const Span handed_over = mine.begun + mine.cost->send;
    if (!mine.cost->rendezvous)
        expect(Happening::finished, handed_over, send);
    else if (!other.is_posted)
        return;
    const Span enters = mine.cost->rendezvous ? later(handed_over, other.posted) : handed_over;
    mine.begun = enters - mine.cost->send;
    mine.has_begun = mine.travels = true;
    mine.handed_over = false;
    expect(Happening::entering, enters, send);
}

void Play::enter_links(StepOfRank send) {
    traffic_.enter(send, mate(send).rank, bytes_of(question_, program(send.rank), step(send)),
                   enters_links(state(send)).median);
}

void Play::leave_links(const Traffic::Left& left) {
    const StepOfRank send = left.send;
    StepState& mine = state(send);
    mine.travels = false;
    mine.on_links = left.time - enters_links(mine).median;
    if (mine.cost->rendezvous)
        expect(Happening::finished, path_end(mine) - mine.cost->receive, send);
    if (state(mate(send)).is_posted)
        expect_arrival(send, mate(send));
}

Span Play::enters_links(const StepState& sent) {
    return sent.begun + sent.cost->send;
}

Span Play::path_end(const StepState& sent) {
    return sent.begun + sent.cost->full + Span(sent.on_links);
}

void Play::expect_arrival(StepOfRank from, StepOfRank to) {
    const StepState& sent = state(from);
    const Span latest = path_end(sent) - sent.cost->receive;
    expect(Happening::arriving, later(later(sent.begun, state(to).posted), latest), to);
}

void Play::receive_next(StepOfRank rank, const Span& now) {
    RankState& r = rank_of(rank);
    const StepOfRank at{rank.rank, next_of(r.in, Happening::in_free, rank, now)};
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
        expect(Happening::arrived, done, at);
    } else {
        note(at, Activity::receive, state(at).posted, done);
        expect(Happening::finished, done, at);
    }
    wake(r.in, Happening::in_free, at);
}

void Play::take(StepOfRank at, const Span& now) {
    const StepState& sent = state(mate(at));
    const Span cost = sent.cost->receive_processor;
    const Span done = occupy(at.rank, sent.meets, now, cost) + cost;
    note(at, Activity::receive, state(at).posted, done);
    expect(Happening::finished, done, at);
}

Span Play::occupy(int rank, bool interrupts, const Span& now, const Span& cost) {
    RankState& r = ranks_[static_cast<std::size_t>(rank)];
    const Span begin = turns_.begin(rank, later(now, interrupts ? r.handing : r.processor), cost);
    r.processor = later(r.processor, begin) + cost;
    r.handing = begin + cost;
    return begin;
}

} // namespace sextant::model
