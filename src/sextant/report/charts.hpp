// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/report/svg.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::report {

/// Returns the distance between ticks: 1, 2 or 5 times a power of ten, for four to ten ticks.
/// Requires  a positive range.
double tick_of(double range);

/// Returns the number of decimals that labels need if ticks have this distance.
int decimals_of(double tick);

/// The lanes of a chart, one below another, such as one per rank: names on the left, an axis below,
/// and activities in between.
struct Lanes {
    static constexpr int most = 256;   ///< maximum number of lanes that can be distinguished
    static constexpr double left = 76; ///< default start of lanes (x), after names

    int count = 0;
    double height = 0;   ///< height of one lane
    double top = 0;      ///< y position of the first lane, set by place()
    double begin = left; ///< x of the start of lanes; larger for long names

    double y(int lane) const { return top + lane * height; }
    double middle(int lane) const { return y(lane) + height / 2; }
    double bottom() const { return y(count); }

    /// Positions the lanes below the current content, with space for the axis.
    void place(Svg& svg);
    /// Adds styles for lines of class "lane" and areas of class "band".
    static void add_styles(Svg& svg);
    /// Adds names to as many lanes as there is space for.
    void add_names(Svg& svg, const std::function<std::string(int lane)>& name) const;
    void add_axis_name(Svg& svg, std::string_view name) const;
    void add_axis_label(Svg& svg, double x, std::string_view label) const;
};

/// Adds the styles for ticks.
void add_time_axis_styles(Svg& svg);

/// Adds ticks across placed lanes, with their times below; adds nothing if the duration is 0.
/// `width` is the length of the duration in the drawing.
void add_time_axis(Svg& svg, const Lanes& lanes, Seconds duration, double width);

/// A column chart: at each position, one column per kind.
struct ColumnChart {
    struct Kind {
        std::string name;
        std::vector<double> values; ///< by position; finite and not negative
    };
    std::string title, subtitle;
    std::vector<std::string> places; ///< labels; only some are shown if there is not enough space
    std::vector<Kind> kinds;         ///< one to four
    std::function<std::string(double)> text; ///< formats a value
    std::vector<KeyFigure> figures;
    bool counts = false; ///< true if values are counts, which are drawn on a logarithmic axis
};

/// Returns the chart as SVG. If there are more than a few hundred positions, neighbouring positions
/// are merged into one column with their highest value, and a note states this.
/// Requires  as many values of each kind as positions (std::logic_error).
std::string columns(const ColumnChart& chart);

/// A period in which a worker works.
struct GanttBar {
    int worker = 0;
    int kind = 0; ///< index into the kinds
    Seconds begin = 0, end = 0;
    std::string title; ///< tooltip
};

struct GanttChart {
    std::string title, subtitle;
    std::vector<std::string> workers;
    std::vector<std::string> kinds; ///< names of the kinds, one to four
    std::vector<GanttBar> bars;
    std::vector<KeyFigure> figures;
};

/// Returns the chart as SVG, with one lane per worker; gaps are idle time. If there are too many
/// workers to distinguish, only the first ones are drawn, and a note states this.
std::string gantt(const GanttChart& chart);

/// Values at consecutive positions; NaN at positions without a value.
struct Curve {
    std::string name;
    std::vector<double> values;
    std::vector<double> deviations = {}; ///< standard deviations of the values, or empty
};

/// Positions to mark in a row below the curves.
struct MarkedPlaces {
    std::string name;
    std::vector<std::int64_t> places;
};

struct CurveChart {
    std::string title, subtitle;
    std::string place;              ///< word for a position, such as "frame"
    std::string unit;               ///< unit of all values; "" if they have none
    std::vector<Curve> curves = {}; ///< one to four
    std::vector<MarkedPlaces> marks = {};
    std::vector<KeyFigure> figures = {};
    bool are_correlations = false; ///< tooltips show values by correlation_to_text()
};

/// The width of a chart: that of a page or of a phone, with the same font size.
enum class ChartWidth { page, phone };

/// Returns the chart as SVG, with a band for deviations. If there are more positions than the chart
/// can show, neighbouring positions are merged and drawn as a line from their smallest to their
/// largest value, so the size of the SVG is bounded. A chart for phones has no tooltips.
/// Requires  curves of equal length; deviations empty or of the same length (std::logic_error).
std::string curves(const CurveChart& chart, ChartWidth width = ChartWidth::page);

/// Points of several kinds on two logarithmic axes.
struct LogChart {
    struct Point {
        double x = 0, y = 0; ///< positive and finite; other points are omitted, and a note states
                             ///< their number
        std::string title = {};
    };
    struct Kind {
        std::string name;
        std::vector<Point> points = {};
        bool joined = false; ///< true if joined by a line, in order of x
    };
    std::string title, subtitle = {};
    std::string x_name = {}, y_name = {};
    std::function<std::string(double)> x_text = {}, y_text = {}; ///< format a value
    std::vector<Kind> kinds = {};
    bool compares = false; ///< use equal axes, with lines at y = x, 1.5 x and x / 1.5
    std::vector<KeyFigure> figures = {};
};

/// Returns the chart as SVG; "" if there are no points to draw.
std::string log_chart(const LogChart& chart);

} // namespace sextant::report
