// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/critical_path.hpp"

#include "sextant/model/play_state.hpp"
#include "sextant/model/work_costs.hpp"
#include "sextant/schedule/fault.hpp"
#include "sextant/schedule/loans.hpp"
#include "sextant/schedule/timeline.hpp"
#include "sextant/schedule/walk.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <tuple>

namespace sextant::model {

namespace {

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
          messages_(question),
          mates_(prepared.mates),
          dependences_(prepared.dependences) {
        for (std::size_t rank = 0; rank < schedule_.size(); ++rank) {
            ranks_.emplace_back(schedule_[rank], dependences_[rank]);
            if (shares_memory(question))
                loans_.emplace_back(schedule_[rank], dependences_[rank]);
        }
        count_folding();
    }

    Prediction play() {
        for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank)
            begin(rank);
        while (!happenings_.empty()) {
            const Happening next = happenings_.top();
            happenings_.pop();
            happen(next);
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

    void happen(const Happening& now) {
        switch (now.kind) {
        case Happening::finished:
            return finish(now.at, now.time);
        case Happening::out_free:
            rank_of(now.at).out.wakes = false;
            return send_next(now.at, now.time);
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

    const MessageCost& cost_of(StepOfRank send, StepOfRank receive) {
        Message m = messages_.describe(send, receive);
        m.lent = m.link == machine::Link::same_process && is_lent(send, receive);
        if (prices_.meetings)
            m.on_links = prices_.meetings->of(send);
        const Look key{m.bytes,          m.link, m.layout,  m.sent_block,
                       m.received_block, m.lent, m.on_links};
        const auto found = costs_.find(key);
        return found != costs_.end() ? found->second
                                     : costs_.emplace(key, prices_.message(m)).first->second;
    }

    bool is_lent(StepOfRank send, StepOfRank receive) const {
        return loans_[static_cast<std::size_t>(send.rank)].may_lend(send.step) &&
               !loans_[static_cast<std::size_t>(receive.rank)].uses(receive.step).empty();
    }

    void post(StepOfRank at, const Span& now) {
        const StepOfRank other = mate(at);
        const bool sends = step(at).verb == Verb::send;
        const StepOfRank from = sends ? at : other, to = sends ? other : at;
        StepState& mine = state(at);
        mine.posted = now;
        mine.is_posted = true;
        if (!state(from).cost)
            state(from).cost = &cost_of(from, to);
        const bool together = state(from).cost->rendezvous;
        const bool both = state(from).is_posted && state(to).is_posted;
        const bool on_its_way = state(from).has_begun;
        if (together ? both : sends) {
            rank_of(from).out.waiting.push(from.step);
            send_next(from, now);
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
        if (cost.send_processor.median > 0) {
            mine.begun = later(mine.begun, r.processor);
            r.processor = mine.begun + cost.send_processor;
        }
        mine.has_begun = true;
        r.out.free = mine.begun + cost.send;
        note(at, Activity::send, mine.begun, r.out.free);
        expect(Happening::finished, r.out.free, at);
        wake(r.out, Happening::out_free, at);
        if (state(mate(at)).is_posted)
            expect_arrival(at, mate(at));
    }

    /// The receiver need turn to a message only so early that it ends with the message's path.
    void expect_arrival(StepOfRank from, StepOfRank to) {
        const StepState& sent = state(from);
        const Span latest = sent.begun + sent.cost->full - sent.cost->receive;
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
        const Span there = sent.begun + cost.full - cost.receive_processor;
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
        r.processor = later(now, r.processor) + state(mate(at)).cost->receive_processor;
        note(at, Activity::receive, state(at).posted, r.processor);
        expect(Happening::finished, r.processor, at);
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
            work(fold, Activity::fold, work_.fold(what.to.elements(), operands, folds_alone(fold)),
                 now);
    }

    /// Whether no other rank of its node folds in the same round.
    bool folds_alone(StepOfRank fold) const {
        return folding_.at({node_of(fold.rank), step(fold).round}) == 1;
    }

    int node_of(int rank) const {
        return question_.nodes.empty() ? rank : question_.nodes[static_cast<std::size_t>(rank)];
    }

    /// Counts the ranks of each node that fold in each round.
    void count_folding() {
        for (int rank = 0; rank < static_cast<int>(schedule_.size()); ++rank) {
            std::set<int> rounds;
            for (const Step& each : program(rank).steps) {
                if (each.verb == Verb::fold)
                    rounds.insert(each.round);
            }
            for (const int round : rounds)
                ++folding_[{node_of(rank), round}];
        }
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

    using Look = std::tuple<Bytes, machine::Link, machine::Layout, Bytes, Bytes, bool, Seconds>;

    const Question& question_;
    const Schedule& schedule_;
    const Prices& prices_;
    WorkCosts work_;
    const Messages messages_;
    const std::vector<std::vector<StepOfRank>>& mates_;
    const std::vector<Dependences>& dependences_;
    std::vector<RankState> ranks_;
    std::map<std::pair<int, int>, int> folding_; // by node and round: ranks that fold
    std::vector<Loans> loans_;                   // by rank, where ranks are threads of one process
    std::map<Look, MessageCost> costs_;          // many messages look alike
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
    return Play(question, prices, prepared).play();
}

} // namespace sextant::model
