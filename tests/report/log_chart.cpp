// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/charts.hpp"

#include <limits>

#include "tests/report/markup.hpp"
#include <gmock/gmock.h>

namespace sextant::report {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string number(double value) {
    return std::to_string(value);
}

LogChart chart_of(std::vector<LogChart::Point> points) {
    return {.title = "Chart",
            .x_name = "x",
            .y_name = "y",
            .x_text = number,
            .y_text = number,
            .kinds = {{"kind", std::move(points), true}}};
}

TEST(LogChart, draws_every_point_and_connects_them_in_order) {
    LogChart chart = chart_of({{100, 1, "third"}, {1, 1, "first"}, {10, 1, "second"}});
    const std::string svg = log_chart(chart);
    EXPECT_EQ(test::markup_error(svg), "");
    EXPECT_EQ(test::occurrences(svg, "<title>first</title>"), 1);
    const double x1 =
        std::stod(svg.substr(svg.find("d=\"M92") == std::string::npos ? svg.find(" d=\"M") + 5
                                                                      : svg.find("d=\"M92") + 4));
    EXPECT_LT(x1, 200); // the line begins with the smallest x, not with the first point given
}

TEST(LogChart, omits_values_without_a_logarithm_with_a_note) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::string svg =
        log_chart(chart_of({{1, 2, "a"}, {0, 1, "b"}, {1, -1, "c"}, {nan, 1, "d"}}));
    EXPECT_THAT(svg, HasSubstr("3 points not shown"));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_EQ(test::markup_error(svg), "");
    EXPECT_EQ(log_chart(chart_of({})), "");
    EXPECT_EQ(log_chart(chart_of({{0, 0, ""}})), "");
}

TEST(LogChart, compares_values_on_two_equal_axes) {
    LogChart chart = chart_of({{1e-6, 1e-3, "above"}, {1e-4, 1e-4, "on"}});
    chart.compares = true;
    const std::string svg = log_chart(chart);
    EXPECT_EQ(test::markup_error(svg), "");
    EXPECT_EQ(test::occurrences(svg, "class=\"equal near\""), 2);
    EXPECT_THAT(svg, HasSubstr("equal; 1.5 times more or less"));
}

TEST(LogChart, labels_the_x_values_of_curves_if_there_are_few) {
    const auto named = [](const LogChart& chart, double x) {
        return test::occurrences(log_chart(chart), ">" + number(x) + "</text>");
    };
    LogChart few = chart_of({{8, 30, ""}, {2, 30, ""}, {4, 30, ""}});
    for (const double x : {2., 4., 8.})
        EXPECT_EQ(named(few, x), 1) << x;
    EXPECT_EQ(named(few, 5), 0);
    few.kinds[0].joined = false;
    EXPECT_EQ(named(few, 4), 0);
    EXPECT_EQ(named(few, 5), 1);
    LogChart many = chart_of({});
    for (int x = 1; x <= 9; ++x)
        many.kinds[0].points.push_back({static_cast<double>(x), 30, ""});
    EXPECT_EQ(named(many, 5), 1);
    EXPECT_EQ(named(many, 4), 0);
}

TEST(LogChart, escapes_names) {
    LogChart chart = chart_of({{1, 1, std::string(test::hostile_name)}});
    chart.kinds[0].name = test::hostile_name;
    EXPECT_EQ(test::markup_error(log_chart(chart)), "");
}

} // namespace
} // namespace sextant::report
