// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/trace.hpp"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

namespace sextant {

std::string_view name(Activity activity) {
    switch (activity) {
    case Activity::send:
        return "send";
    case Activity::receive:
        return "receive";
    case Activity::fold:
        return "fold";
    case Activity::copy:
        return "copy";
    case Activity::compute:
        return "compute";
    case Activity::wait:
        return "wait";
    }
    return "";
}

Activity activity_of(Verb verb) {
    switch (verb) {
    case Verb::send:
        return Activity::send;
    case Verb::receive:
        return Activity::receive;
    case Verb::fold:
        return Activity::fold;
    case Verb::copy:
        return Activity::copy;
    case Verb::compute:
        return Activity::compute;
    }
    return Activity::wait;
}

namespace {

bool by_rank_and_time(const Event& a, const Event& b) {
    return std::tie(a.rank, a.begin, a.end, a.step) < std::tie(b.rank, b.begin, b.end, b.step);
}

/// Adds the waits of one rank, whose events are sorted by time.
void add_waits(std::span<const Event> events, std::vector<Event>& waits) {
    Seconds busy_until = 0, done = 0;
    const auto idle = [&](Seconds until) {
        if (until > busy_until)
            waits.push_back({.rank = events.front().rank, .begin = busy_until, .end = until});
    };
    for (const Event& event : events) {
        done = std::max(done, event.end);
        if (event.activity == Activity::send || event.activity == Activity::receive)
            continue;
        idle(event.begin);
        busy_until = std::max(busy_until, event.end);
    }
    idle(done);
}

} // namespace

void Timeline::add(const Program& program, StepOfRank at, Activity activity, Seconds begin,
                   Seconds end) {
    const Step& step = program.steps[static_cast<std::size_t>(at.step)];
    events_.push_back(
        {at.rank, at.step, activity, step.round, step.peer, program.elements_of(step), begin, end});
}

Trace Timeline::finish(Seconds duration) {
    std::sort(events_.begin(), events_.end(), by_rank_and_time);
    std::vector<Event> waits;
    for (auto first = events_.begin(); first != events_.end();) {
        const auto last = std::find_if(
            first, events_.end(), [&](const Event& event) { return event.rank != first->rank; });
        add_waits({first, last}, waits);
        first = last;
    }
    events_.insert(events_.end(), waits.begin(), waits.end());
    std::stable_sort(events_.begin(), events_.end(), by_rank_and_time);
    return {std::move(events_), duration, 0};
}

} // namespace sextant
