// SPDX-License-Identifier: BSD-3-Clause
// The policy of work stealing, on a simulated clock with random times.
#include "sextant/scan/stealing.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "tests/support/random.hpp"
#include <gtest/gtest.h>

namespace sextant::scan {
namespace {

/// The result of a simulated run.
struct Outcome {
    std::vector<int> owner; ///< for each value, the thread that processed it
    std::vector<Interval> segments;
    Elements stolen = 0;
    Seconds end = 0;
};

/// The time that a thread takes to combine a value with the preceding ones.
using Time = std::function<Seconds(int thread, Elements value)>;

/// Simulates threads, each of which claims a value when it becomes idle. Expects that every claimed
/// value is adjacent to the thread's segment.
Outcome drive(Elements values, int threads, Boundaries boundaries, const Time& time) {
    Stealing stealing(values, threads, boundaries);
    Outcome outcome;
    outcome.owner.assign(static_cast<std::size_t>(values), -1);
    const auto take = [&](int thread, Elements value) {
        EXPECT_EQ(std::exchange(outcome.owner.at(static_cast<std::size_t>(value)), thread), -1);
    };
    std::priority_queue<std::tuple<Seconds, int>, std::vector<std::tuple<Seconds, int>>,
                        std::greater<>>
        free;
    for (int thread = 0; thread < threads; ++thread) {
        take(thread, stealing.start(thread));
        free.emplace(0, thread);
    }
    while (!free.empty()) {
        const auto [now, thread] = free.top();
        free.pop();
        const Interval had = stealing.segment(thread);
        const auto claim = stealing.next(thread, now);
        outcome.end = std::max(outcome.end, now);
        if (!claim)
            continue;
        EXPECT_EQ(claim->value, claim->before ? had.first - 1 : had.last);
        take(thread, claim->value);
        free.emplace(now + time(thread, claim->value + (claim->before ? 1 : 0)), thread);
    }
    for (int thread = 0; thread < threads; ++thread)
        outcome.segments.push_back(stealing.segment(thread));
    outcome.stolen = stealing.stolen();
    return outcome;
}

void expect_whole(const Outcome& outcome, Elements values) {
    Elements next = 0;
    for (std::size_t thread = 0; thread < outcome.segments.size(); ++thread) {
        const Interval& segment = outcome.segments[thread];
        EXPECT_EQ(segment.first, next);
        EXPECT_GT(segment.last, segment.first);
        for (Elements value = segment.first; value < segment.last; ++value)
            EXPECT_EQ(outcome.owner[static_cast<std::size_t>(value)], static_cast<int>(thread));
        next = segment.last;
    }
    EXPECT_EQ(next, values);
}

TEST(Stealing, segments_stay_contiguous_for_any_operator_times) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        test::Random random(seed);
        const int threads = random.number(1, 9);
        const Elements values = random.between(threads, 70);
        for (const Boundaries boundaries :
             {Boundaries::fixed, Boundaries::moving, Boundaries::towards_slower}) {
            const Outcome outcome = drive(values, threads, boundaries, [&](int, Elements) {
                return static_cast<Seconds>(random.number(0, 10));
            });
            expect_whole(outcome, values);
            if (boundaries == Boundaries::fixed) {
                EXPECT_EQ(outcome.stolen, 0);
            }
        }
    }
}

TEST(Stealing, equally_fast_threads_hardly_steal) {
    for (int threads = 1; threads <= 8; ++threads) {
        const Outcome outcome =
            drive(64, threads, Boundaries::moving, [](int, Elements) { return 1.0; });
        EXPECT_LE(outcome.stolen, threads + 2) << threads;
        EXPECT_LE(outcome.end, 64 / threads + 1) << threads;
    }
}

TEST(Stealing, neighbours_of_a_slow_thread_steal_from_it) {
    for (int slow = 0; slow < 4; ++slow) {
        const auto time = [slow](int thread, Elements) { return thread == slow ? 8.0 : 1.0; };
        const Outcome fixed = drive(64, 4, Boundaries::fixed, time);
        const Outcome moving = drive(64, 4, Boundaries::moving, time);
        EXPECT_GT(moving.stolen, 8) << slow;
        EXPECT_LT(moving.end, fixed.end / 2) << slow;
    }
}

TEST(Stealing, a_thread_extends_its_segment_towards_its_slower_neighbour) {
    Stealing stealing(30, 3, Boundaries::towards_slower);
    ASSERT_EQ(stealing.start(1), 15);
    for (int thread : {0, 2})
        stealing.next(thread, 0);
    EXPECT_TRUE(stealing.next(1, 0).has_value());
    stealing.next(0, 1); // thread 0 claims a second value; the last thread is still busy
    EXPECT_EQ(stealing.next(1, 5)->before, false);
    stealing.next(2, 6); // thread 2 took 6 s; now thread 0 takes longer
    EXPECT_EQ(stealing.next(1, 40)->before, true);
}

TEST(Stealing, a_thread_continues_on_the_other_side_if_one_side_is_exhausted) {
    Stealing stealing(3, 2, Boundaries::moving);
    EXPECT_EQ(stealing.next(1, 0), (Extension{1, true}));
    EXPECT_EQ(stealing.next(0, 0), std::nullopt);
    EXPECT_EQ(stealing.next(1, 1), std::nullopt);
    EXPECT_EQ(stealing.segment(1), (Interval{1, 3}));
}

TEST(Stealing, with_fixed_boundaries_every_thread_works_from_left_to_right_at_any_time) {
    for (unsigned seed = 0; seed < 40; ++seed) {
        test::Random random(seed);
        const int threads = random.number(1, 7);
        const Elements values = random.between(threads, 40);
        Stealing stealing(values, threads, Boundaries::fixed);
        std::vector<bool> done(static_cast<std::size_t>(threads), false);
        Seconds now = 0;
        while (std::count(done.begin(), done.end(), true) < threads) {
            const int thread = random.number(0, threads - 1);
            const Elements expected = stealing.segment(thread).last;
            const auto claim = stealing.next(thread, now += random.number(0, 3));
            if (claim)
                EXPECT_EQ(*claim, (Extension{expected, false}));
            else
                done[static_cast<std::size_t>(thread)] = true;
        }
        for (int thread = 0; thread < threads; ++thread)
            EXPECT_EQ(stealing.start(thread), stealing.segment(thread).first);
    }
}

TEST(Stealing, one_thread_works_from_left_to_right) {
    Stealing stealing(3, 1, Boundaries::moving);
    EXPECT_EQ(stealing.start(0), 0);
    EXPECT_EQ(stealing.next(0, 0), (Extension{1, false}));
    EXPECT_EQ(stealing.next(0, 1), (Extension{2, false}));
    EXPECT_EQ(stealing.next(0, 2), std::nullopt);
}

} // namespace
} // namespace sextant::scan
