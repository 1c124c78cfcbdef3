// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/bench/growth.hpp"

#include "sextant/machine/field.hpp"
#include "sextant/report/log_chart.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

using machine::Field;

constexpr std::size_t most_ways = 24; // more than that have no colour of their own

/// A way by the name that it has at all numbers of ranks: radices and segments go by these.
std::string way_of(const Field& result) {
    std::string name = result.at("name").text();
    const std::string tuning = result.text_or_empty("tuning");
    const std::string transport = result.text_or_empty("transport");
    if (tuning.starts_with("window"))
        name += ", " + tuning;
    else if (tuning.starts_with("segments"))
        name += ", in segments";
    return transport.empty() ? name : name + ", " + transport;
}

/// What the points of a chart have in common, and what they differ by.
struct View {
    const char* over;
    double (*place)(const GrowthPoint&);
    double (*common)(const GrowthPoint&);
    std::string (*subtitle)(double common);
};

std::string whole(double value) {
    return report::grouped(std::llround(value));
}

std::string seconds_to_text(double seconds) {
    return report::to_text(Seconds{seconds});
}

constexpr View views[] = {
    {"ranks", [](const GrowthPoint& point) { return static_cast<double>(point.ranks); },
     [](const GrowthPoint& point) { return point.pixels; },
     [](double pixels) { return whole(pixels) + " pixels"; }},
    {"pixels", [](const GrowthPoint& point) { return point.pixels; },
     [](const GrowthPoint& point) { return static_cast<double>(point.ranks); },
     [](double ranks) { return report::counted(std::llround(ranks), "rank"); }},
};

report::LogChart::Kind kind_of(const View& view, const std::string& way, double common,
                               const std::vector<GrowthPoint>& points) {
    report::LogChart::Kind kind{.name = way, .joined = true};
    for (const GrowthPoint& point : points) {
        if (point.way == way && view.common(point) == common)
            kind.points.push_back({view.place(point), point.cpu,
                                   fmt::format("{}: {}, {} {}", way, seconds_to_text(point.cpu),
                                               whole(view.place(point)), view.over)});
    }
    return kind;
}

report::Figure chart_of(const View& view, double common, const std::vector<std::string>& ways,
                        const std::vector<GrowthPoint>& points) {
    report::LogChart chart{.title = fmt::format("Compositing over {}", view.over),
                           .subtitle = view.subtitle(common) + "; CPU time of all ranks together",
                           .x_name = view.over,
                           .y_name = "CPU time",
                           .x_text = whole,
                           .y_text = seconds_to_text};
    for (const std::string& way : ways)
        chart.kinds.push_back(kind_of(view, way, common, points));
    return {report::log_chart(chart), ""};
}

std::set<double> values_of(double (*value)(const GrowthPoint&),
                           const std::vector<GrowthPoint>& points) {
    std::set<double> values;
    for (const GrowthPoint& point : points)
        values.insert(value(point));
    return values;
}

/// In the order in which they come, and no more than have colours.
std::vector<std::string> ways_in(const std::vector<GrowthPoint>& points) {
    std::vector<std::string> ways;
    for (const GrowthPoint& point : points) {
        if (std::find(ways.begin(), ways.end(), point.way) == ways.end())
            ways.push_back(point.way);
    }
    ways.resize(std::min(ways.size(), most_ways));
    return ways;
}

} // namespace

bool is_composite_bench(std::string_view text) {
    const std::size_t head = text.find("\"operation\"");
    const std::size_t name = text.find("\"bench composite\"");
    return head < 16 && name < 64;
}

std::vector<GrowthPoint> read_growth(const std::string& text, const std::string& path) {
    const Field file = Field::parse(text, path);
    const int ranks = static_cast<int>(file.at("ranks").integer(1, 1 << 30));
    std::vector<GrowthPoint> points;
    for (const Field& one : file.at("cases").items()) {
        constexpr std::int64_t most = 1 << 30;
        const double pixels = static_cast<double>(one.at("width").integer(1, most)) *
                              static_cast<double>(one.at("height").integer(1, most));
        std::set<std::string> seen; // of several tunings the usual one comes first
        for (const Field& result : one.at("results").items()) {
            const bool of_mpi = result.at("baseline").boolean();
            if (of_mpi || result.at("sparse").boolean() || !seen.insert(way_of(result)).second)
                continue;
            const Field median = result.at("cpu_seconds").at("median");
            points.push_back({way_of(result), ranks, pixels, median.number(0, Field::most)});
        }
    }
    return points;
}

std::vector<report::Figure> growth_charts(const std::vector<GrowthPoint>& points) {
    const std::vector<std::string> ways = ways_in(points);
    std::vector<report::Figure> charts;
    for (const View& view : views) {
        if (values_of(view.place, points).size() < 2)
            continue;
        const std::set<double> all = values_of(view.common, points);
        for (auto common = all.rbegin(); common != all.rend(); ++common)
            charts.push_back(chart_of(view, *common, ways, points));
    }
    return charts;
}

} // namespace sextant::operation
