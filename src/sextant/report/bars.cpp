// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/bars.hpp"

#include "sextant/report/messages.hpp"

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

} // namespace

Bars bars(const Trace& trace, int ranks, std::size_t most) {
    constexpr double finest = 1000; // bars side by side that can be told apart
    Bars bars;
    bars.duration = std::isfinite(trace.duration) ? std::max(trace.duration, 0.0) : 0.0;
    for (const Event& event : trace.events) {
        check(event, ranks);
        bars.duration = std::max(bars.duration, event.end);
    }
    const std::vector<Event> events = in_order(trace.events);
    std::vector<Bar> all;
    if (events.size() <= most) {
        for (const Event& event : events)
            all.push_back({event});
    } else {
        bars.pause = bars.duration / finest;
        all = merged(events, bars.pause);
        while (all.size() > most && bars.pause < bars.duration) {
            all = merged(events, bars.pause *= 2);
        }
    }
    for (const Bar& bar : all) {
        (is_message(bar.event.activity) ? bars.messages : bars.work).push_back(bar);
    }
    bars.rows = set_rows(bars.messages, Activity::send, 0);
    bars.rows = std::max(set_rows(bars.messages, Activity::receive, bars.rows), 1);
    return bars;
}

} // namespace sextant::report
