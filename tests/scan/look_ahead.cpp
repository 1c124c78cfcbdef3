// SPDX-License-Identifier: BSD-3-Clause
// The schedule of threads that reduce values ahead of the results, on a simulated clock.
#include "sextant/scan/look_ahead.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "tests/support/random.hpp"
#include <gtest/gtest.h>

namespace sextant::scan {
namespace {

using Kind = LookAhead::Task::Kind;

struct Outcome {
    Seconds end = 0;
    Elements applications = 0, stolen = 0;
};

/// Simulates threads and checks that each task uses operands that exist, does not overwrite a total
/// that is needed, and that every result is computed once.
Outcome drive(Elements values, int threads,
              const std::function<Seconds(const Application&)>& time) {
    using Free = std::pair<Seconds, int>;
    LookAhead schedule(values, threads);
    Outcome outcome;
    std::priority_queue<Free, std::vector<Free>, std::greater<>> free;
    for (int thread = 0; thread < threads; ++thread)
        free.emplace(0, thread);
    std::vector<int> waiting;
    std::vector<std::optional<LookAhead::Task>> tasks(static_cast<std::size_t>(threads));
    // What the place of each result holds: the combination of these values.
    std::vector<Interval> places(static_cast<std::size_t>(values));
    const auto at = [&](Elements value) -> Interval& {
        return places.at(static_cast<std::size_t>(value));
    };
    at(0) = {0, 1};
    const auto total_of = [&](const Interval& segment) {
        return segment.last - segment.first == 1 ? segment : at(segment.last - 1);
    };
    while (!free.empty()) {
        const auto [now, thread] = free.top();
        free.pop();
        auto& task = tasks[static_cast<std::size_t>(thread)];
        if (task) {
            outcome.end = std::max(outcome.end, now);
            const auto& [first, last] = task->segment;
            if (task->kind == Kind::prefix) {
                EXPECT_EQ(at(last - 1), (Interval{0, last}));
                at(last) = {0, last + 1};
            } else if (task->kind == Kind::extend) {
                EXPECT_EQ(total_of(task->segment), task->segment);
                at(last) = {first, last + 1};
            } else {
                EXPECT_EQ(at(first - 1), (Interval{0, first}));
                EXPECT_EQ(total_of(task->segment), task->segment);
                at(last - 1) = {0, last};
            }
        }
        task = schedule.next(thread);
        if (!task) {
            waiting.push_back(thread);
            continue;
        }
        for (const int other : waiting)
            free.emplace(now, other);
        waiting.clear();
        ++outcome.applications;
        free.emplace(now + time(task->in_series(0)), thread);
    }
    EXPECT_TRUE(schedule.finished());
    for (Elements value = 0; value < values; ++value)
        EXPECT_EQ(at(value), (Interval{0, value + 1})) << value << " of " << values;
    outcome.stolen = schedule.stolen();
    return outcome;
}

TEST(LookAhead, computes_every_result_from_existing_operands_for_any_times) {
    for (unsigned seed = 0; seed < 2000; ++seed) {
        test::Random random(seed);
        const Elements values = random.between(1, 70);
        const int threads = random.number(1, 9);
        SCOPED_TRACE(seed);
        drive(values, threads,
              [&](const Application&) { return static_cast<Seconds>(random.number(0, 10)); });
        ASSERT_FALSE(HasFailure());
    }
}

TEST(LookAhead, with_equal_times_is_near_the_least_possible_span) {
    const auto one = [](const Application&) { return 1.; };
    for (const int threads : {2, 3, 4, 8}) {
        for (const Elements values : {64, 128, 256, 1000}) {
            const Outcome outcome = drive(values, threads, one);
            const double least = 2. * static_cast<double>(values) / (threads + 1);
            EXPECT_LE(outcome.end, (threads == 2 ? 1.04 : 1.3) * least + 3)
                << threads << " " << values;
            EXPECT_LE(outcome.applications, 2 * values);
        }
    }
    for (const Elements values : {1, 2, 3, 50}) {
        const Outcome alone = drive(values, 1, one);
        EXPECT_EQ(alone.end, static_cast<double>(values - 1));
        EXPECT_EQ(alone.stolen, 0);
    }
}

TEST(LookAhead, a_slow_part_of_the_series_is_shared) {
    // The last third takes five times as long per application.
    const auto time = [](const Application& what) { return what.middle >= 128 ? 5. : 1.; };
    const double serial = 127 + 64 * 5;
    EXPECT_LT(drive(192, 2, time).end, .72 * serial);
    EXPECT_LT(drive(192, 4, time).end, .55 * serial);
}

TEST(LookAhead, a_single_slow_application_delays_only_what_needs_it) {
    for (const Elements slow : {5, 40, 90}) {
        const auto time = [slow](const Application& what) {
            return what.middle == slow ? 30. : 1.;
        };
        EXPECT_LT(drive(96, 4, time).end, 30. + 60) << slow;
    }
}

} // namespace
} // namespace sextant::scan
