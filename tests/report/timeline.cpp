// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/trace_timeline.hpp"

#include <limits>
#include <stdexcept>

#include "tests/report/markup.hpp"
#include <gmock/gmock.h>

namespace sextant::report {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Ranks that repeatedly send to the next rank, receive, wait and fold.
Trace some_trace(int ranks, int times, Seconds unit) {
    Trace trace;
    for (int rank = 0; rank < ranks; ++rank) {
        for (int i = 0; i < times; ++i) {
            const Seconds begin = (4 * i + 0.1 * rank) * unit;
            const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
            trace.events.push_back(
                {rank, 3 * i, Activity::send, i, next, 512, begin, begin + 2 * unit});
            trace.events.push_back(
                {rank, 3 * i + 1, Activity::receive, i, previous, 512, begin, begin + 3 * unit});
            trace.events.push_back({rank, -1, Activity::wait, 0, -1, 0, begin, begin + 3 * unit});
            trace.events.push_back({rank, 3 * i + 2, Activity::fold, i, -1, 512, begin + 3 * unit,
                                    begin + 3.5 * unit});
        }
    }
    for (const Event& event : trace.events)
        trace.duration = std::max(trace.duration, event.end);
    return trace;
}

TEST(Timeline, every_event_is_a_bar) {
    const std::string svg = timeline(some_trace(3, 4, 1e-6), 3);
    EXPECT_EQ(test::markup_error(svg), "");
    EXPECT_EQ(test::occurrences(svg, "class=\"event "), 3 * 4 * 4);
    EXPECT_EQ(test::occurrences(svg, "class=\"event wait\""), 3 * 4);
    EXPECT_THAT(svg,
                HasSubstr("rank 1, step 3: send to rank 2, round 1, 512 elements\n2.00 µs from "));
    EXPECT_THAT(svg, Not(HasSubstr("Aggregated")));
}

TEST(Timeline, the_axis_has_a_suitable_unit) {
    const auto axis = [](Seconds unit) { return timeline(some_trace(2, 5, unit), 2); };
    EXPECT_THAT(axis(1e-9), HasSubstr(">time, ns<"));
    EXPECT_THAT(axis(1e-6), HasSubstr(">time, µs<"));
    EXPECT_THAT(axis(1e-3), HasSubstr(">time, ms<"));
    EXPECT_THAT(axis(1), HasSubstr(">time, s<"));
    EXPECT_THAT(axis(1e-6), HasSubstr(">18</text>"));
}

TEST(Timeline, an_empty_timeline_can_be_drawn) {
    for (int ranks : {0, 1, 3}) {
        const std::string svg = timeline({}, ranks);
        EXPECT_EQ(test::markup_error(svg), "");
        EXPECT_THAT(svg, HasSubstr("No events were recorded"));
        EXPECT_EQ(test::occurrences(svg, ">rank "), ranks);
    }
}

TEST(Timeline, zero_length_events_are_drawn) {
    Trace trace;
    trace.events = {{0, 0, Activity::copy, 0, -1, 8, 0, 0}};
    const std::string svg = timeline(trace, 1);
    EXPECT_EQ(test::markup_error(svg), "");
    EXPECT_EQ(test::occurrences(svg, "class=\"event copy\""), 1);
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(Timeline, hostile_titles_are_escaped) {
    TimelineOptions options;
    options.title = options.subtitle = test::hostile_name;
    const std::string svg = timeline(some_trace(2, 1, 1), 2, options);
    test::expect_escaped(svg);
}

TEST(Timeline, the_order_of_events_does_not_matter) {
    Trace trace = some_trace(4, 5, 1e-3);
    const std::string svg = timeline(trace, 4);
    std::reverse(trace.events.begin(), trace.events.end());
    EXPECT_EQ(timeline(trace, 4), svg);
}

TEST(Timeline, invalid_events_are_refused) {
    const auto with = [](int rank, Seconds begin, Seconds end) {
        Trace trace;
        trace.events = {{rank, 0, Activity::fold, 0, -1, 1, begin, end}};
        return trace;
    };
    EXPECT_THROW(timeline(with(2, 0, 1), 2), std::logic_error);
    EXPECT_THROW(timeline(with(-1, 0, 1), 2), std::logic_error);
    EXPECT_THROW(timeline(with(0, 2, 1), 2), std::logic_error);
    EXPECT_THROW(timeline(with(0, -1, 1), 2), std::logic_error);
    EXPECT_THROW(timeline(with(0, 0, std::numeric_limits<double>::infinity()), 2),
                 std::logic_error);
    EXPECT_THROW(timeline(with(0, std::numeric_limits<double>::quiet_NaN(), 1), 2),
                 std::logic_error);
}

TEST(Timeline, too_many_events_are_aggregated_with_a_note) {
    TimelineOptions options;
    options.most_drawn = 100;
    const std::string svg = timeline(some_trace(4, 500, 1e-6), 4, options);
    EXPECT_EQ(test::markup_error(svg), "");
    EXPECT_LE(test::occurrences(svg, "class=\"event "), 100);
    EXPECT_THAT(svg, HasSubstr("Aggregated: 8,000 events in "));
    EXPECT_THAT(svg, HasSubstr("Not shown: "));
}

TEST(Timeline, too_many_ranks_share_lanes_with_a_note) {
    const std::string svg = timeline(some_trace(301, 1, 1e-6), 301);
    EXPECT_EQ(test::markup_error(svg), "");
    EXPECT_EQ(test::occurrences(svg, ">ranks 0-1:"), 4); // one bar of each kind
    EXPECT_EQ(test::occurrences(svg, ">rank 300"), 4 + 1);
    EXPECT_THAT(svg, HasSubstr("2 ranks share a lane"));
}

TEST(TimelineBars, in_shared_lanes_contain_every_event_without_overlapping) {
    const Trace trace = some_trace(600, 3, 1e-6);
    const SharedLanes lanes(600);
    EXPECT_EQ(lanes.lanes, 200);
    EXPECT_EQ(lanes.name(199), "ranks 597-599");
    const Bars all = bars(trace, lanes, 1'000'000);
    std::int64_t events = 0;
    for (const Bar& bar : all.messages)
        events += bar.events;
    for (const Bar& bar : all.work)
        events += bar.events;
    EXPECT_EQ(events, std::ssize(trace.events));
    EXPECT_EQ(all.rows, 2); // sends and receives
    Trace wrong = trace;
    wrong.events[0].rank = 600;
    EXPECT_THROW(bars(wrong, lanes, 10), std::logic_error);
    // All events are kept, whatever the number of ranks.
    EXPECT_EQ(bars(trace, 600, trace.events.size()).work.size() +
                  bars(trace, 600, trace.events.size()).messages.size(),
              trace.events.size());
}

TEST(TimelineBars, of_messages_in_one_row_do_not_overlap) {
    Trace trace = some_trace(3, 6, 1);
    for (Event& event : trace.events)
        event.end += event.step % 4; // more events overlap
    const Bars all = bars(trace, 3, 1000);
    for (const Bar& a : all.messages) {
        EXPECT_LT(a.row, all.rows);
        for (const Bar& b : all.messages) {
            if (&a == &b || a.event.rank != b.event.rank || a.row != b.row)
                continue;
            EXPECT_TRUE(a.event.end <= b.event.begin || b.event.end <= a.event.begin);
            EXPECT_EQ(a.event.activity, b.event.activity);
        }
    }
}

TEST(TimelineBars, that_are_merged_represent_all_events) {
    const Trace trace = some_trace(5, 100, 1e-6);
    const Bars all = bars(trace, 5, 50);
    std::int64_t events = 0;
    for (const auto* kind : {&all.messages, &all.work}) {
        for (const Bar& bar : *kind)
            events += bar.events;
    }
    EXPECT_EQ(events, static_cast<std::int64_t>(trace.events.size()));
    EXPECT_GT(all.pause, 0);
}

} // namespace
} // namespace sextant::report
