// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/otf2.hpp"
#include "sextant/report/recording.hpp"

#include <limits>
#include <map>
#include <set>
#include <stdexcept>

#include "tests/report/recordings.hpp"
#include <gtest/gtest.h>

namespace sextant::report {
namespace {

constexpr Seconds us = 1e-6;

/// Expects that every event begins and ends once on a location of its rank, that times do not
/// decrease, and that on each location one event ends before the next begins.
void expect_whole(const Recording& recording, const std::vector<Otf2Location>& locations) {
    std::map<std::size_t, int> seen;
    for (const Otf2Location& location : locations) {
        std::uint64_t now = 0;
        std::set<std::size_t> open;
        int work = 0;
        for (const Otf2Record& record : location.records) {
            const Event& event = recording.trace.events[record.event];
            EXPECT_EQ(event.rank, location.rank);
            EXPECT_EQ(record.time, otf2_time(record.begins ? event.begin : event.end));
            EXPECT_GE(record.time, now);
            now = record.time;
            EXPECT_TRUE(record.begins ? open.insert(record.event).second
                                      : open.erase(record.event) == 1);
            if (!is_message(event.activity))
                work += record.begins ? 1 : -1;
            EXPECT_LE(work, 1);
            ++seen[record.event];
        }
        EXPECT_TRUE(open.empty());
    }
    EXPECT_EQ(seen.size(), recording.trace.events.size());
    for (const auto& [event, times] : seen)
        EXPECT_EQ(times, 2) << "event " << event;
}

TEST(Otf2Locations, are_one_per_rank_if_no_work_overlaps) {
    for (const Recording& recording : {test::relay(), test::ring(5, 7)}) {
        const auto locations = otf2_locations(recording);
        ASSERT_EQ(locations.size(), static_cast<std::size_t>(recording.ranks));
        for (int rank = 0; rank < recording.ranks; ++rank)
            EXPECT_EQ(locations[static_cast<std::size_t>(rank)].rank, rank);
        expect_whole(recording, locations);
    }
}

TEST(Otf2Locations, are_several_per_rank_if_work_overlaps) {
    Recording recording{.name = "team", .ranks = 3, .trace = {}};
    recording.trace.events = {
        {2, 0, Activity::fold, 0, -1, 1, 0, 4 * us},
        {2, 1, Activity::fold, 0, -1, 1, us, 2 * us},
        {2, 2, Activity::copy, 0, -1, 1, us, 5 * us},
        {2, 3, Activity::fold, 0, -1, 1, 2 * us, us * 3},
        {2, 4, Activity::fold, 0, -1, 1, 4 * us, 5 * us},
        {0, 0, Activity::copy, 0, -1, 1, 0, us},
    };
    const auto locations = otf2_locations(recording);
    ASSERT_EQ(locations.size(), 5u); // rank 1 was idle, rank 2 had three simultaneous events
    EXPECT_EQ(locations[3].rank, 2);
    EXPECT_EQ(locations[4].rank, 2);
    expect_whole(recording, locations);
}

TEST(Otf2Locations, keep_zero_length_events_in_order) {
    Recording recording{.name = "short", .ranks = 1, .trace = {}};
    recording.trace.events = {
        {0, 3, Activity::fold, 0, -1, 1, us, us},     {0, 1, Activity::fold, 0, -1, 1, 0, us},
        {0, 2, Activity::send, 0, 0, 1, us, us},      {0, 2, Activity::receive, 0, 0, 1, us, us},
        {0, 4, Activity::fold, 0, -1, 1, us, 2 * us},
    };
    const auto locations = otf2_locations(recording);
    ASSERT_EQ(locations.size(), 1u);
    expect_whole(recording, locations);
}

TEST(Otf2Locations, distinguish_messages_between_the_same_ranks) {
    Recording recording{.name = "twice", .ranks = 2, .trace = {}};
    recording.trace.events = {
        {0, 5, Activity::send, 0, 1, 7, 0, us},        {0, 2, Activity::send, 0, 1, 8, us, 3 * us},
        {1, 1, Activity::receive, 0, 0, 8, 0, 2 * us}, {1, 9, Activity::receive, 0, 0, 7, 0, us},
        {1, 10, Activity::send, 0, 0, 7, us, 2 * us},  {0, 6, Activity::send, 0, 1, 9, us, 2 * us},
    };
    const auto locations = otf2_locations(recording);
    std::map<std::size_t, std::uint32_t> tags;
    for (const Otf2Location& location : locations) {
        for (const Otf2Record& record : location.records)
            tags[record.event] = record.tag;
    }
    EXPECT_EQ(tags[1], tags[2]); // step 2 is sent first
    EXPECT_EQ(tags[0], tags[3]);
    EXPECT_EQ((std::set{tags[0], tags[1], tags[5]}).size(), 3u);
    expect_whole(recording, locations);
}

TEST(Otf2Locations, refuse_invalid_traces) {
    const auto with = [](const Event& event) {
        return Recording{.name = "wrong", .ranks = 2, .trace = {.events = {event}}};
    };
    const auto nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_NO_THROW(otf2_locations(with({1, 0, Activity::send, 0, 0, 1, 0, us})));
    for (const Event& event :
         {Event{2, 0, Activity::fold, 0, -1, 1, 0, us}, Event{1, 0, Activity::send, 0, 2, 1, 0, us},
          Event{1, 0, Activity::receive, 0, -1, 1, 0, us},
          Event{1, 0, Activity::fold, 0, -1, 1, 2 * us, us},
          Event{1, 0, Activity::fold, 0, -1, 1, -us, us},
          Event{1, 0, Activity::fold, 0, -1, 1, nan, us},
          Event{1, 0, Activity::fold, 0, -1, 1, 0, 1e7}})
        EXPECT_THROW(otf2_locations(with(event)), std::logic_error);
}

} // namespace
} // namespace sextant::report
