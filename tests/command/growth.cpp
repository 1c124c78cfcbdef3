// SPDX-License-Identifier: BSD-3-Clause
// Charts of benchmarks from several launches.
#include "sextant/command/schedules/report.hpp"
#include "sextant/core/error.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace sextant::command {
namespace {

using testing::HasSubstr;

std::string result(const std::string& name, const std::string& tuning, bool baseline,
                   double seconds) {
    return fmt::format(R"({{"name": "{}", "tuning": "{}", "transport": "shared",
                           "baseline": {}, "sparse": false, "cpu_seconds": {{"median": {}}}}})",
                       name, tuning, baseline, seconds);
}

std::string launch(int ranks, double seconds) {
    std::string cases;
    for (const int width : {64, 128}) {
        cases += fmt::format(R"({}{{"width": {}, "height": 32, "results": [{}, {}, {}, {}]}})",
                             cases.empty() ? "" : ", ", width,
                             result("alltoallv", "", true, 9 * seconds),
                             result("radix-k", fmt::format("radices {}", ranks), false, seconds),
                             result("radix-k", "", false, 5 * seconds),
                             result("direct-send", "window 1", false, 2 * seconds));
    }
    return fmt::format(R"({{"operation": "bench composite", "ranks": {}, "cases": [{}]}})", ranks,
                       cases);
}

std::vector<GrowthPoint> points_of(const std::vector<std::string>& launches) {
    std::vector<GrowthPoint> points;
    for (const std::string& text : launches) {
        for (const GrowthPoint& point : read_growth(text, "launch.json"))
            points.push_back(point);
    }
    return points;
}

TEST(Growth, names_default_tunings_independently_of_the_number_of_ranks) {
    const std::vector<GrowthPoint> points = points_of({launch(4, .5)});
    ASSERT_EQ(points.size(), 4U);
    EXPECT_EQ(points[0].configuration, "radix-k, shared");
    EXPECT_EQ(points[0].ranks, 4);
    EXPECT_EQ(points[0].pixels, 64 * 32);
    EXPECT_EQ(points[0].cpu, .5);
    EXPECT_EQ(points[1].configuration, "direct-send, window 1, shared");
    EXPECT_EQ(points[3].pixels, 128 * 32);
    EXPECT_EQ(points[3].cpu, 1);
}

TEST(Growth, is_plotted_over_ranks_and_over_pixels) {
    const auto charts = growth_charts(points_of({launch(2, .5), launch(4, .7), launch(8, 1.1)}));
    ASSERT_EQ(charts.size(), 5U);
    EXPECT_THAT(charts[0].svg, HasSubstr("Compositing over ranks"));
    EXPECT_THAT(charts[0].svg, HasSubstr("4,096 pixels"));
    EXPECT_THAT(charts[0].svg, HasSubstr("8 ranks"));
    EXPECT_THAT(charts[2].svg, HasSubstr("Compositing over pixels"));
    EXPECT_THAT(charts[2].svg, HasSubstr("8 ranks"));
}

TEST(Growth, is_plotted_only_over_pixels_for_a_single_launch) {
    EXPECT_EQ(growth_charts(points_of({launch(2, .5)})).size(), 1U);
}

TEST(Growth, without_cpu_times_has_no_chart) {
    EXPECT_TRUE(growth_charts(points_of({launch(2, 0), launch(4, 0)})).empty());
}

TEST(Growth, recognises_its_files_and_reports_errors_in_them) {
    EXPECT_TRUE(is_composite_bench(launch(2, .5)));
    EXPECT_FALSE(is_composite_bench(R"({"operation": "bench scan"})"));
    EXPECT_FALSE(is_composite_bench(R"({"traceEvents": []})"));
    EXPECT_THAT([] { read_growth(R"({"operation": "bench composite", "ranks": 0})", "a.json"); },
                testing::ThrowsMessage<InvalidFile>(HasSubstr("a.json: ranks is 0")));
    const std::string whole = launch(2, .5), tuning = "\"window 1\"";
    const std::size_t at = whole.find(tuning);
    const std::string numbered = whole.substr(0, at) + "4" + whole.substr(at + tuning.size());
    EXPECT_THAT([&] { read_growth(numbered, "a.json"); },
                testing::ThrowsMessage<InvalidFile>(HasSubstr("tuning is 4")));
}

} // namespace
} // namespace sextant::command
