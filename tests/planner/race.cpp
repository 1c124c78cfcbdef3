// SPDX-License-Identifier: BSD-3-Clause
// The configuration that runs in each frame of a race, the winner, and the participants.
#include "sextant/planner/race.hpp"

#include <gmock/gmock.h>

namespace sextant::planner {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// The measured times of one rank: configuration c takes `takes[c]`, after slow warm-up frames.
Race raced(const std::vector<Seconds>& takes, int rounds) {
    Race race(static_cast<int>(takes.size()), rounds);
    for (int frame = 0; !race.over(); ++frame) {
        const bool warms_up = frame < static_cast<int>(takes.size());
        race.finish(takes[static_cast<std::size_t>(race.next())] + (warms_up ? 100 : 0));
    }
    return race;
}

Race::Outcome outcome_of(const Race& race) {
    return race.judge(std::span(&race.times(), 1));
}

TEST(Race, alternates_the_order_of_contestants) {
    Race race(3, 2);
    std::vector<int> turns;
    for (; !race.over(); race.finish(1))
        turns.push_back(race.next());
    EXPECT_THAT(turns, ElementsAre(0, 1, 2, 2, 1, 0, 0, 1, 2));
    EXPECT_EQ(race.frames(), 9);
}

TEST(Race, is_won_by_the_smallest_median_after_warming_up) {
    for (int fastest = 0; fastest < 3; ++fastest) {
        std::vector<Seconds> takes = {2, 2, 2};
        takes[static_cast<std::size_t>(fastest)] = 1;
        const Race race = raced(takes, 5);
        const Race::Outcome outcome = outcome_of(race);
        EXPECT_EQ(outcome.winner, fastest);
        EXPECT_EQ(outcome.frames, 18);
        EXPECT_EQ(outcome.medians[static_cast<std::size_t>(fastest)], 1);
    }
}

TEST(Race, is_won_by_the_first_of_equal_contestants) {
    const Race race = raced({3, 3}, 3);
    EXPECT_EQ(outcome_of(race).winner, 0);
}

TEST(Race, uses_the_time_of_the_slowest_rank_in_each_frame) {
    // On each rank, the second configuration is faster in some frames, but never in the same frame
    // on both ranks.
    Race left(2, 4), right(2, 4);
    for (int frame = 0; !left.over(); ++frame) {
        const bool second = left.next() == 1, even = frame / 2 % 2 == 0;
        left.finish(second ? (even ? 1 : 4) : 3);
        right.finish(second ? (even ? 4 : 1) : 3);
    }
    const Race::Outcome outcome = left.judge(std::vector{left.times(), right.times()});
    EXPECT_EQ(outcome.winner, 0);
    EXPECT_THAT(outcome.medians, ElementsAre(3, 4));
}

TEST(Race, ignores_frames_that_failed_on_any_rank) {
    Race failing(2, 3), fine(2, 3);
    for (int frame = 0; !fine.over(); ++frame) {
        const bool first = fine.next() == 0;
        fine.finish(first ? 1 : 5);
        failing.finish(first ? Race::failed : 5);
    }
    const Race::Outcome outcome = fine.judge(std::vector{fine.times(), failing.times()});
    EXPECT_EQ(outcome.winner, 1);
    EXPECT_THAT(outcome.medians, ElementsAre(std::nullopt, 5));
}

TEST(Race, keeps_the_predicted_choice_if_all_frames_failed) {
    Race all(2, 1);
    while (!all.over())
        all.finish(Race::failed);
    EXPECT_EQ(outcome_of(all).winner, 0);
}

compositing::Configuration shift(int window) {
    return {&compositing::find("shift-based"), {{}, window}};
}

/// A plan whose alternatives are Shift-Based with windows 1, 2, ..., with these predictions and
/// intervals.
CompositingPlan plan_of(const std::vector<Expected>& expected) {
    CompositingPlan plan;
    for (std::size_t i = 0; i < expected.size(); ++i)
        plan.alternatives.push_back({shift(static_cast<int>(i) + 1), 0.0, expected[i], {}, ""});
    plan.configuration = plan.alternatives.front().configuration;
    plan.reason = "fastest of all";
    return plan;
}

TEST(RacingOrder, includes_only_configurations_that_may_be_as_fast_as_the_best) {
    const auto close = racing_order(plan_of({{10, 10, 10}, {12, 12, 12}, {13, 13, 13}}), 1000);
    EXPECT_THAT(close.configurations, ElementsAre(shift(1), shift(2))) << "predictions have errors";
    const auto wide = racing_order(plan_of({{10, 1, 30}, {20, 20, 20}, {29, 29, 50}}), 1000);
    EXPECT_THAT(wide.configurations, ElementsAre(shift(1), shift(2), shift(3)))
        << "intervals overlap";
    EXPECT_THAT(racing_order(plan_of({{10, 9, 11}, {20, 19, 21}}), 1000).configurations,
                ElementsAre());
    EXPECT_THAT(racing_order(plan_of({{10, 9, 11}}), 1000).configurations, ElementsAre());
    EXPECT_THAT(racing_order(CompositingPlan{}, 1000).configurations, ElementsAre())
        << "nothing was predicted";
    EXPECT_EQ(racing_order(plan_of({{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}), 1000)
                  .configurations.size(),
              3u);
}

TEST(RacingOrder, uses_at_most_a_quarter_of_the_frames) {
    const CompositingPlan plan = plan_of({{1, 1, 1}, {1, 1, 1}, {1, 1, 1}});
    bool any = false, none = false;
    for (int frames = 1; frames < 400; ++frames) {
        const RacingOrder order = racing_order(plan, frames);
        if (order.configurations.empty()) {
            none = true;
            continue;
        }
        any = true;
        const Race race(static_cast<int>(order.configurations.size()), order.rounds);
        EXPECT_LE(4 * race.frames(), frames);
        EXPECT_GE(order.rounds, 3);
    }
    EXPECT_TRUE(any && none);
    EXPECT_TRUE(racing_order(plan, 1).configurations.empty()) << "one frame is no race";
}

TEST(RaceResult, reports_measured_and_predicted_times) {
    const CompositingPlan before = plan_of({{1, 1, 1}, {1.1, 1.1, 1.1}, {9, 9, 9}});
    const std::array configurations = {shift(1), shift(2)};
    const CompositingPlan after = after_race(before, configurations, {1, 12, {.003, .002}});
    EXPECT_EQ(after.configuration, shift(2));
    EXPECT_EQ(after.reason, "raced over 12 frames: shift-based, window 1 3 ms; shift-based, window "
                            "2 2 ms; predicted: fastest of all");
    EXPECT_EQ(after.alternatives.front().configuration, shift(2));
    EXPECT_EQ(after.alternatives.front().raced, .002);
    EXPECT_EQ(after.alternatives[1].raced, .003);
    EXPECT_FALSE(after.alternatives[2].raced);
    EXPECT_THAT(to_json(after), HasSubstr("\"raced_seconds\": 0.002"));
    EXPECT_EQ(parse_plan(to_json(after), "p.json").configuration, shift(2));
}

} // namespace
} // namespace sextant::planner
