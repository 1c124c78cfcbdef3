// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/critical_path.hpp"

#include "sextant/model/folding_ranks.hpp"
#include "sextant/model/message.hpp"
#include "sextant/model/message_costs.hpp"
#include "sextant/model/play_state.hpp"
#include "sextant/model/work_costs.hpp"
#include "sextant/schedule/fault.hpp"
#include "sextant/schedule/timeline.hpp"
#include "sextant/schedule/walk.hpp"

#include <algorithm>
#include <limits>
#include <queue>

namespace sextant::model {

namespace {

constexpr Seconds never = std::numeric_limits<Seconds>::infinity();

Span at_least_zero(const Span& span) {
    return later(span, Span());
}

class Play {
  public:
    Play(const Question& question, const Prices& prices, const Prepared& prepared)
        : question_(question),
          schedule_(question.schedule),
          prices_(prices),
          work_(question),
          mates_(prepared.mates),
          dependences_(prepared.dependences),
          folding_(question),
          traffic_(question),
          costs_(question, prices, prepared, traffic_) {
        for (std::size_t rank = 0; rank < schedule_.size(); ++rank)
            ranks_.emplace_back(schedule_[rank], dependences_[rank]);
    }

    Prediction play() {
        for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank)
            begin(rank);
        while (happen_next()) {
        }
        for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank)
            check_finished(rank);
        // What is subtracted on the way can turn an interval round.
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

    void expect(Happening::Kind kind, const Span& time, StepOfRank at) {
        happenings_.push({kind, time, at, count_++});
    }

    /// What happens next, to a rank or on links; false where nothing does.
    bool happen_next() {
        const Seconds on_links = prices_.share_links ? traffic_.next() : never;
        if (on_links < (happenings_.empty() ? never : happenings_.top().time.median)) {
            for (const Traffic::Left& left : traffic_.pass())
                leave_links(left);
            return true;
        }
        if (happenings_.empty())
            return false;
        const Happening next = happenings_.top();
        happenings_.pop();
        happen(next);
        return true;
    }

    void happen(const Happening& now) {
        switch (now.kind) {
        case Happening::finished:
            return finish(now.at, now.time);
        case Happening::out_free:
            rank_of(now.at).out.wakes = false;
            return send_next(now.at, now.time);
        case Happening::entering:
            return enter_links(now.at);
        case Happening::arriving:
            rank_of(now.at).in.waiting.push(now.at.step);
            return receive_next(now.at, now.time);
        case Happening::in_free:
            rank_of(now.at).in.wakes = false;
            return receive_next(now.at, now.time);
        case Happening::arrived:
            return take(now.at, now.time);
        case Happening::combining:
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
            if (step(at).verb == Verb::copy)
                copy(at, now);
            else if (step(at).verb == Verb::compute)
                compute(at, now);
            else
                combine(at, now);
            expect(Happening::finished, later(state(at).done, now), at);
        }
    }

    // Messages.

    void post(StepOfRank at, const Span& now) {
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

    /// The next step of a lane that is free; none where nothing waits, or the lane is busy and will
    /// be looked at when it is free.
    int next_of(Lane& lane, Happening::Kind when_free, StepOfRank rank, const Span& now) {
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

    void wake(Lane& lane, Happening::Kind when_free, StepOfRank rank) {
        lane.wakes = true;
        expect(when_free, lane.free, rank);
    }

    void send_next(StepOfRank rank, const Span& now) {
        RankState& r = rank_of(rank);
        const StepOfRank at{rank.rank, next_of(r.out, Happening::out_free, rank, now)};
        if (at.step == Walk::none)
            return;
        StepState& mine = state(at);
        const MessageCost& cost = *mine.cost;
        mine.begun = later(now, r.out.free);
        if (cost.send_processor.median > 0)
            mine.begun = occupy(r, mine.meets, mine.begun, cost.send_processor);
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

    // Links that messages share.

    /// A message that nothing buffers travels once its receiver waits for it.
    void set_out(StepOfRank send) {
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

    void enter_links(StepOfRank send) {
        traffic_.enter(send, mate(send).rank, bytes_of(question_, program(send.rank), step(send)),
                       enters_links(state(send)).median);
    }

    void leave_links(const Traffic::Left& left) {
        const StepOfRank send = left.send;
        StepState& mine = state(send);
        mine.travels = false;
        mine.on_links = left.time - enters_links(mine).median;
        if (mine.cost->rendezvous)
            expect(Happening::finished, path_end(mine) - mine.cost->receive, send);
        if (state(mate(send)).is_posted)
            expect_arrival(send, mate(send));
    }

    static Span enters_links(const StepState& sent) { return sent.begun + sent.cost->send; }

    /// When all of a message is at its receiver.
    static Span path_end(const StepState& sent) {
        return sent.begun + sent.cost->full + Span(sent.on_links);
    }

    /// The receiver need turn to a message only so early that it ends with the message's path.
    void expect_arrival(StepOfRank from, StepOfRank to) {
        const StepState& sent = state(from);
        const Span latest = path_end(sent) - sent.cost->receive;
        expect(Happening::arriving, later(later(sent.begun, state(to).posted), latest), to);
    }

    /// Who waits for a message has it at the end of its path, even where the receiver's own time is
    /// longer: that then holds up what comes next. Who turns to it late spends his time on it
    /// after.
    void receive_next(StepOfRank rank, const Span& now) {
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

    void take(StepOfRank at, const Span& now) {
        RankState& r = rank_of(at);
        const StepState& sent = state(mate(at));
        const Span cost = sent.cost->receive_processor;
        const Span done = occupy(r, sent.meets, now, cost) + cost;
        note(at, Activity::receive, state(at).posted, done);
        expect(Happening::finished, done, at);
    }

    /// The processor hands over or takes a message, one at a time; when that begins.
    static Span occupy(RankState& r, bool interrupts, const Span& now, const Span& cost) {
        const Span begin = later(now, interrupts ? r.handing : r.processor);
        r.processor = later(r.processor, begin) + cost;
        r.handing = begin + cost;
        return begin;
    }

    // Work.

    /// Operands that come while the processor is busy, or at one time, are combined in one pass.
    void expect_combining(StepOfRank fold, const Span& now) {
        StepState& mine = state(fold);
        if (mine.will_combine || mine.next == step(fold).count)
            return;
        mine.will_combine = true;
        expect(Happening::combining, later(now, rank_of(fold).processor), fold);
    }

    void combine_when_free(StepOfRank fold, const Span& now) {
        if (rank_of(fold).processor.median > now.median)
            expect_combining(fold, now);
        else
            combine(fold, now);
    }

    /// Whether a fold may begin that is to be one pass.
    bool all_readable(StepOfRank fold) {
        const Walk& walk = rank_of(fold).walk;
        const Step& what = step(fold);
        for (std::uint32_t operand = 0; operand < what.count; ++operand) {
            if (!walk.readable(what.first + operand))
                return false;
        }
        return true;
    }

    /// Combines the operands that have become readable, as far as they come in order.
    void combine(StepOfRank fold, const Span& now) {
        const Step& what = step(fold);
        StepState& mine = state(fold);
        if (question_.folds_at_once && !all_readable(fold))
            return;
        const Walk& walk = rank_of(fold).walk;
        int operands = mine.next > 0 ? 1 : 0; // what has been combined is one
        for (; mine.next < what.count && walk.readable(what.first + mine.next); ++mine.next)
            ++operands;
        if (operands > 1)
            work(fold, Activity::fold,
                 work_.fold(what.to.elements(), operands, folding_.is_alone(fold.rank, what.round)),
                 now);
    }

    void copy(StepOfRank at, const Span& now) {
        const Region &to = step(at).to, &from = program(at.rank).regions_of(step(at))[0];
        const auto piece = [](const Region& r) { return r.contiguous() ? r.elements() : r.length; };
        const Bytes size = program(at.rank).element_size(to.buffer, question_.element_size);
        const Bytes block = size * std::min(piece(to), piece(from));
        work(at, Activity::copy, work_.copy(size * to.elements(), block), now);
    }

    void compute(StepOfRank at, const Span& now) {
        const Elements elements = program(at.rank).elements_of(step(at));
        work(at, Activity::compute, work_.compute(step(at).kernel, elements), now);
    }

    void work(StepOfRank at, Activity activity, const Span& cost, const Span& now) {
        RankState& r = rank_of(at);
        const Span begin = later(now, r.processor);
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
        throw fault(schedule_, {rank, stuck}, "waits for ever");
    }

    const Question& question_;
    const Schedule& schedule_;
    const Prices& prices_;
    WorkCosts work_;
    const std::vector<std::vector<StepOfRank>>& mates_;
    const std::vector<Dependences>& dependences_;
    const FoldingRanks folding_;
    Traffic traffic_;
    MessageCosts costs_;
    std::vector<RankState> ranks_;
    std::priority_queue<Happening> happenings_;
    std::uint64_t count_ = 0;
    Timeline timeline_;
    Span end_;
};

} // namespace

Prepared::Prepared(const Schedule& schedule) : mates(match_messages(schedule)) {
    for (const Program& program : schedule)
        dependences.emplace_back(program);
}

Prediction critical_path(const Question& question, const Prices& prices, const Prepared& prepared) {
    check_nodes(question);
    return Play(question, prices, prepared).play();
}

} // namespace sextant::model
