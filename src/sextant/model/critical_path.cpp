// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/critical_path.hpp"

#include "sextant/model/least_time.hpp"
#include "sextant/model/play.hpp"
#include "sextant/schedule/fault.hpp"

#include <algorithm>
#include <limits>

namespace sextant::model {

namespace {

constexpr Seconds never = std::numeric_limits<Seconds>::infinity();

} // namespace

Play::Play(const Question& question, const Prices& prices, const Prepared& prepared)
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
    for (std::size_t rank = 0; rank < schedule_.size(); ++rank)
        ranks_.emplace_back(schedule_[rank], dependences_[rank]);
}

Prediction Play::play() {
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

bool Play::happen_next() {
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

void Play::happen(const Happening& now) {
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

void Play::begin(int rank) {
    const auto& steps = program(rank).steps;
    for (int i = 0; i < static_cast<int>(steps.size()); ++i) {
        if (steps[static_cast<std::size_t>(i)].verb == Verb::fold)
            combine({rank, i}, {});
    }
    start_ready(rank, {});
}

void Play::finish(StepOfRank at, const Span& now) {
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

void Play::start_ready(int rank, const Span& now) {
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
        expect(Happening::finished, later(state(at).done, now), at);
    }
}

void Play::note(StepOfRank at, Activity activity, const Span& begin, const Span& end) {
    if (question_.timeline)
        timeline_.add(program(at.rank), at, activity, begin.median, end.median);
}

void Play::check_finished(int rank) {
    const Walk& walk = ranks_[static_cast<std::size_t>(rank)].walk;
    if (walk.done())
        return;
    int stuck = 0;
    while (walk.finished(stuck))
        ++stuck;
    throw fault(schedule_, {rank, stuck}, "waits for ever");
}

Prepared::Prepared(const Schedule& schedule) : mates(match_messages(schedule)) {
    for (const Program& program : schedule)
        dependences.emplace_back(program);
}

Prediction critical_path(const Question& question, const Prices& prices, const Prepared& prepared) {
    check_nodes(question);
    if (question.least) {
        const Seconds least = least_time(question, prices, prepared);
        return {least, least, least, {}, {}};
    }
    return Play(question, prices, prepared).play();
}

} // namespace sextant::model
