// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/charts.hpp"

#include <gtest/gtest.h>

namespace sextant::report {
namespace {

int count(const std::string& text, const std::string& word) {
    int found = 0;
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1))
        ++found;
    return found;
}

GanttChart chart_of(int workers) {
    GanttChart chart{"who & what", "a scan", {}, {"first", "second"}, {}, {{"3", "bars"}}};
    for (int worker = 0; worker < workers; ++worker) {
        chart.workers.push_back("worker " + std::to_string(worker));
        chart.bars.push_back({worker, worker % 2, 1. * worker, worker + 1., "a < b"});
    }
    return chart;
}

TEST(Gantt, has_a_bar_for_each_interval_with_its_kind_and_title) {
    const std::string picture = gantt(chart_of(3));
    EXPECT_EQ(count(picture, "class=\"bar kind-0\""), 2);
    EXPECT_EQ(count(picture, "class=\"bar kind-1\""), 1);
    EXPECT_EQ(count(picture, "<title>a &lt; b</title>"), 3);
    EXPECT_EQ(count(picture, "worker 2"), 1);
    EXPECT_EQ(count(picture, "who &amp; what"), 2);
    EXPECT_EQ(count(picture, "time, s"), 1);
}

TEST(Gantt, reports_how_many_workers_are_left_out) {
    const std::string picture = gantt(chart_of(300));
    EXPECT_EQ(count(picture, "class=\"bar"), 256);
    EXPECT_EQ(count(picture, "Not shown: 44 of 300 workers."), 1);
}

TEST(Gantt, without_intervals_is_an_empty_chart) {
    const std::string picture = gantt({"nothing", "", {}, {}, {}, {}});
    EXPECT_EQ(count(picture, "class=\"bar"), 0);
    EXPECT_EQ(count(picture, "</svg>"), 1);
}

} // namespace
} // namespace sextant::report
