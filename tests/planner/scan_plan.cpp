// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/scan_plan.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace sextant::planner {
namespace {

using Kind = scan::Distribution::Kind;

ScanQuestion question_of(Elements values, int cores, Kind kind = Kind::constant,
                         std::vector<double> speedup = {1}) {
    ScanQuestion question;
    question.values = values;
    question.cores = cores;
    question.times.kind = kind;
    question.speedup = std::move(speedup);
    return question;
}

TEST(ScanPlan, expected_makespan_equals_the_span_for_constant_times) {
    const scan::Configuration configuration{scan::find_strategy("reduce-then-scan"),
                                            {scan::find("kogge-stone"), {}}};
    const ExpectedMakespan expected =
        expected_makespan(scan::even_blocks(64, 16), configuration, {Kind::constant, 2}, 10, 1);
    EXPECT_EQ(expected.mean, 2 * (3 + 4 + 3));
    EXPECT_EQ(expected.error, 0);
}

TEST(ScanPlan, random_times_take_longer_than_constant_times_of_equal_mean) {
    const scan::Configuration configuration{scan::find_strategy("reduce-then-scan"),
                                            {scan::find("kogge-stone"), {}}};
    const scan::Series series = scan::even_blocks(64, 16);
    const auto even = expected_makespan(series, configuration, {Kind::constant, 1}, 1, 1);
    const auto random = expected_makespan(series, configuration, {Kind::exponential, 1}, 50, 1);
    EXPECT_GT(random.mean, 1.3 * even.mean);
    EXPECT_GT(random.error, 0);
}

TEST(ScanPlan, two_cores_are_better_used_by_a_threaded_operator_than_by_a_scan) {
    ScanQuestion question = question_of(40, 2);
    EXPECT_EQ(choose_scan(question).configuration.operator_cores, 1); // `speedup` has its default
    question.speedup = {1, 1.6};
    const ScanPlan plan = choose_scan(question);
    EXPECT_EQ(plan.configuration.operator_cores, 2);
    EXPECT_EQ(plan.configuration.ranks, 1);
    EXPECT_NEAR(plan.configuration.makespan.mean, 39 / 1.6, 1e-9);
}

TEST(ScanPlan, many_cores_are_better_used_by_a_parallel_scan) {
    ScanQuestion question = question_of(128, 64);
    question.draws = 3;
    const ScanPlan plan = choose_scan(question);
    EXPECT_GT(plan.configuration.ranks * plan.configuration.threads, 8);
    EXPECT_NE(plan.configuration.global.algorithm.name, "serial");
    EXPECT_TRUE(std::is_sorted(
        plan.alternatives.begin(), plan.alternatives.end(),
        [](const auto& a, const auto& b) { return a.expected->seconds < b.expected->seconds; }));
}

TEST(ScanPlan, is_written_as_json) {
    ScanQuestion question = question_of(30, 4, Kind::exponential);
    question.draws = 3;
    const ScanPlan plan = choose_scan(question);
    EXPECT_THAT(plan.reason, testing::HasSubstr("lowest expected makespan of"));
    const auto text_of = [](const ScanPlan& shown) {
        Json json;
        add_plan(json, shown);
        return json.text();
    };
    const auto json = nlohmann::json::parse(text_of(plan));
    EXPECT_EQ(json["candidates"].size(), plan.alternatives.size());
    EXPECT_EQ(text_of(plan), text_of(choose_scan(question)));
}

TEST(ScanPlan, invalid_questions_are_refused) {
    EXPECT_NO_THROW(choose_scan(question_of(5, 2)));
    EXPECT_THROW(choose_scan(question_of(0, 2)), InvalidTask);
    EXPECT_THROW(choose_scan(question_of(5, 0)), InvalidTask);
    EXPECT_THROW(choose_scan(question_of(5, 2, Kind::recorded)), InvalidTask);
    EXPECT_THROW(choose_scan(question_of(5, 2, Kind::constant, {2})), InvalidTask);
    EXPECT_THROW(choose_scan(question_of(5, 2, Kind::constant, {1, 0})), InvalidTask);
}

} // namespace
} // namespace sextant::planner
