// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/bars.hpp"

#include "sextant/report/messages.hpp"
#include "sextant/report/shared_lanes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>

namespace sextant::report {

namespace {

void check(const Event& event, int ranks) {
    const bool times = std::isfinite(event.begin) && std::isfinite(event.end) && event.begin >= 0 &&
                       event.end >= event.begin;
    if (event.rank >= 0 && event.rank < ranks && times)
        return;
    throw std::logic_error(fmt::format("rank {} of {}, step {}: {} from {} s to {} s", event.rank,
                                       ranks, event.step, name(event.activity), event.begin,
                                       event.end));
}

std::vector<Event> in_order(std::vector<Event> events) {
    const auto place = [](const Event& e) {
        return std::tuple(e.rank, e.begin, e.end, e.activity, e.step);
    };
    std::stable_sort(events.begin(), events.end(),
                     [&](const Event& a, const Event& b) { return place(a) < place(b); });
    return events;
}

/// Puts events of one rank and activity together that at most `pause` lies between.
std::vector<Bar> merged(const std::vector<Event>& events, Seconds pause) {
    constexpr auto none = static_cast<std::size_t>(-1);
    std::vector<Bar> all;
    std::array<std::size_t, static_cast<std::size_t>(Activity::wait) + 1> open; // wait is the last
    open.fill(none);
    for (const Event& event : events) {
        std::size_t& last = open[static_cast<std::size_t>(event.activity)];
        if (last != none && all[last].event.rank == event.rank &&
            event.begin <= all[last].event.end + pause) {
            Bar& bar = all[last];
            bar.event.end = std::max(bar.event.end, event.end);
            bar.event.elements += event.elements;
            ++bar.events;
        } else {
            last = all.size();
            all.push_back({event});
        }
    }
    return all;
}

/// Gives each message of the kind the first row from `first` on that is free when it begins. One
/// past the last row of the rank with the most.
int set_rows(std::vector<Bar>& messages, Activity kind, int first) {
    std::size_t rows = 0;
    std::vector<Seconds> free;
    int rank = -1;
    for (Bar& bar : messages) {
        if (bar.event.activity != kind)
            continue;
        if (bar.event.rank != rank)
            free.clear(), rank = bar.event.rank;
        const auto row = std::find_if(free.begin(), free.end(),
                                      [&](Seconds end) { return end <= bar.event.begin; });
        bar.row = first + static_cast<int>(row - free.begin());
        if (row == free.end())
            free.push_back(bar.event.end);
        else
            *row = bar.event.end;
        rows = std::max(rows, free.size());
    }
    return first + static_cast<int>(rows);
}

/// As few of events in order as it takes for at most `most`; what overlaps is one bar where asked.
Bars bars_of(const std::vector<Event>& events, Seconds duration, std::size_t most,
             bool one_at_a_time) {
    constexpr double finest = 1000; // bars side by side that can be told apart
    Bars bars;
    bars.duration = duration;
    std::vector<Bar> all;
    if (one_at_a_time) {
        all = merged(events, 0);
    } else {
        for (const Event& event : events)
            all.push_back({event});
    }
    for (Seconds pause = duration / finest; all.size() > most; pause *= 2) {
        all = merged(events, bars.pause = pause);
        if (pause >= duration)
            break;
    }
    for (const Bar& bar : all)
        (is_message(bar.event.activity) ? bars.messages : bars.work).push_back(bar);
    bars.rows = set_rows(bars.messages, Activity::send, 0);
    bars.rows = std::max(set_rows(bars.messages, Activity::receive, bars.rows), 1);
    return bars;
}

/// From the start of the run to the end of the last event.
Seconds checked_duration(const Trace& trace, int ranks) {
    Seconds duration = std::isfinite(trace.duration) ? std::max(trace.duration, 0.0) : 0.0;
    for (const Event& event : trace.events) {
        check(event, ranks);
        duration = std::max(duration, event.end);
    }
    return duration;
}

} // namespace

Bars bars(const Trace& trace, int ranks, std::size_t most) {
    const Seconds duration = checked_duration(trace, ranks);
    return bars_of(in_order(trace.events), duration, most, false);
}

Bars bars(const Trace& trace, const SharedLanes& lanes, std::size_t most) {
    if (!lanes.shared())
        return bars(trace, lanes.ranks, most);
    const Seconds duration = checked_duration(trace, lanes.ranks);
    return bars_of(in_order(lanes.events_by_lane(trace).events), duration, most, true);
}

} // namespace sextant::report
