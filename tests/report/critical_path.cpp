// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/recording.hpp"
#include "sextant/report/run_comparison.hpp"

#include "tests/report/recordings.hpp"
#include <gtest/gtest.h>

namespace sextant::report {
namespace {

constexpr double near = 1e-12;

TEST(Messages, the_kth_send_of_a_rank_pair_matches_the_kth_receive) {
    Trace trace;
    trace.events = {{0, 4, Activity::send, 0, 1, 8, 0, 1}, // the second send: higher step number
                    {0, 3, Activity::send, 0, 1, 8, 1, 2},
                    {0, 5, Activity::send, 0, 2, 8, 0, 1}, // its receive is missing
                    {1, 0, Activity::receive, 0, 0, 8, 0, 3},
                    {1, 1, Activity::receive, 0, 0, 8, 0, 2},
                    {1, 2, Activity::receive, 0, 2, 8, 0, 2}}; // its send is missing
    const auto messages = messages_of(trace);
    ASSERT_EQ(messages.size(), 2u);
    EXPECT_EQ(messages[0].send, 1u);
    EXPECT_EQ(messages[0].receive, 3u);
    EXPECT_EQ(messages[1].send, 0u);
    EXPECT_EQ(messages[1].receive, 4u);
    EXPECT_EQ(other_sides(trace), (std::vector<std::size_t>{4, 3, 2, 1, 0, 5}));
}

TEST(CriticalPath, follows_a_late_sender) {
    const CriticalPath path = critical_path(test::relay());
    EXPECT_NEAR(path.work, 19e-6, near);     // a computation and two folds
    EXPECT_NEAR(path.messages, 10e-6, near); // messages of 4 and 6 µs
    EXPECT_NEAR(path.between, 1e-6, near);   // a gap before the first fold
    EXPECT_EQ(path.changes, 2);
    std::vector<int> ranks;
    for (const CriticalPath::Point& point : path.points) {
        if (ranks.empty() || ranks.back() != point.rank)
            ranks.push_back(point.rank);
    }
    EXPECT_EQ(ranks, (std::vector<int>{0, 1, 2}));
    EXPECT_EQ(path.points.front().time, 0);
    EXPECT_NEAR(path.points.back().time, 30e-6, near);
}

TEST(CriticalPath, stays_on_a_late_receiver) {
    Recording recording = test::relay();
    for (Event& event : recording.trace.events) { // rank 2 has other work first
        if (event.rank == 2 && event.activity == Activity::receive)
            event.begin = 22e-6;
        if (event.rank == 2 && event.activity == Activity::wait)
            event = {2, 2, Activity::copy, 0, -1, 8, 0, 22e-6};
    }
    const CriticalPath path = critical_path(recording);
    EXPECT_EQ(path.changes, 0);
    EXPECT_NEAR(path.work, 26e-6, near);
    EXPECT_NEAR(path.messages, 4e-6, near);
}

TEST(CriticalPath, follows_the_last_reader_of_a_shared_buffer) {
    Recording recording{.name = "", .ranks = 2, .lent = true, .trace = {}};
    recording.trace.events = {{0, 0, Activity::send, 0, 1, 8, 0, 10}, // ends after the fold
                              {1, 0, Activity::receive, 0, 0, 8, 0, 1},
                              {1, 1, Activity::fold, 0, -1, 8, 1, 9}};
    const CriticalPath path = critical_path(recording);
    EXPECT_EQ(path.work, 8);
    EXPECT_EQ(path.messages, 1);
    EXPECT_EQ(path.between, 1);
    EXPECT_EQ(path.points.front().rank, 1);
    recording.lent = false;
    EXPECT_EQ(critical_path(recording).messages, 10);
}

TEST(CriticalPath, has_parts_that_add_up_to_the_total_duration) {
    for (const Recording& recording : {test::ring(5, 20), test::ring(1, 3), test::relay()}) {
        const CriticalPath path = critical_path(recording);
        EXPECT_NEAR(path.work + path.messages + path.between, recording.trace.duration, near);
        for (std::size_t i = 1; i < path.points.size(); ++i)
            EXPECT_LE(path.points[i - 1].time, path.points[i].time);
    }
}

TEST(CriticalPath, of_an_empty_trace_is_empty) {
    EXPECT_TRUE(critical_path(Recording{}).points.empty());
    Recording instants; // zero-length events, each of which could have caused the other
    instants.trace.events = {{0, 0, Activity::send, 0, 1, 1, 1, 1},
                             {1, 0, Activity::receive, 0, 0, 1, 1, 1}};
    EXPECT_NEAR(critical_path(instants).between, 1, near);
}

TEST(WaitingTime, is_attributed_to_the_message_that_ended_it) {
    const std::vector<Waiting> waits = waiting(test::relay().trace);
    ASSERT_EQ(waits.size(), 2u);
    EXPECT_EQ(waits[0].rank, 2);
    EXPECT_EQ(waits[0].peer, 1);
    EXPECT_NEAR(waits[0].seconds, 26e-6, near);
    EXPECT_EQ(waits[1].rank, 1);
    EXPECT_EQ(waits[1].peer, 0);
    Trace alone;
    alone.events = {{0, -1, Activity::wait, 0, -1, 0, 0, 1}};
    ASSERT_EQ(waiting(alone).size(), 1u);
    EXPECT_EQ(waiting(alone)[0].peer, -1);
}

TEST(MeasuredBandwidth, is_measured_from_the_time_at_which_both_sides_are_ready) {
    const auto pairs = bandwidths(test::relay());
    ASSERT_EQ(pairs.size(), 2u);
    EXPECT_EQ(pairs[0].from, 0);
    EXPECT_EQ(pairs[0].to, 1);
    EXPECT_NEAR(pairs[0].per_second(), 4000 / 4e-6, 1);
    EXPECT_NEAR(pairs[1].per_second(), 2000 / 6e-6, 1);
}

} // namespace
} // namespace sextant::report
