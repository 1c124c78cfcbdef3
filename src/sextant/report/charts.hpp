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

/// Returns the number of decimals needed to label ticks at this distance.
int decimals_of(double tick);

/// The lanes of a chart, one below the other, for concurrent ranks: names on the left, an axis
/// below, and activities in between.
struct Lanes {
    static constexpr int most = 256;   ///< maximum number that can be distinguished
    static constexpr double left = 76; ///< usual x of the lanes' start, with room for names

    int count = 0;
    double height = 0;   ///< height of one lane
    double top = 0;      ///< y position of the first lane, set by place()
    double begin = left; ///< x of the lanes' start, further right for long names

    double y(int lane) const { return top + lane * height; }
    double middle(int lane) const { return y(lane) + height / 2; }
    double bottom() const { return y(count); }

    /// Positions the lanes below the current content, with space for the axis.
    void place(Svg& svg);
    /// Adds styles of lines of class "lane" and areas of class "band".
    static void add_styles(Svg& svg);
    /// Adds as many names as fit.
    void add_names(Svg& svg, const std::function<std::string(int lane)>& name) const;
    void add_axis_name(Svg& svg, std::string_view name) const;
    void add_axis_label(Svg& svg, double x, std::string_view label) const;
};

/// Adds the styles of ticks.
void add_time_axis_styles(Svg& svg);

/// Adds ticks across placed lanes and their times below; none if the duration is 0. `width` is the
/// length of the whole duration in the drawing.
void add_time_axis(Svg& svg, const Lanes& lanes, Seconds duration, double width);

/// A column chart: at each position, one column per kind.
struct ColumnChart {
    struct Kind {
        std::string name;
        std::vector<double> values; ///< by position; finite and not negative
    };
    std::string title, subtitle;
    std::vector<std::string> places; ///< labels; if there is little room, only some are shown
    std::vector<Kind> kinds;         ///< one to four
    std::function<std::string(double)> text; ///< formats a value
    std::vector<KeyFigure> figures;
    bool counts = false; ///< true if values are counts, to be drawn on a logarithmic axis
};

/// Returns the chart as SVG. If there are more than a few hundred positions, neighbouring ones are
/// merged into one column that shows their highest value, and a note states this.
/// Requires  as many values of each kind as positions (std::logic_error).
std::string columns(const ColumnChart& chart);

/// A period of work of one worker.
struct GanttBar {
    int worker = 0;
    int kind = 0; ///< index into the kinds
    Seconds begin = 0, end = 0;
    std::string title; ///< tooltip
};

struct GanttChart {
    std::string title, subtitle;
    std::vector<std::string> workers;
    std::vector<std::string> kinds; ///< one to four
    std::vector<GanttBar> bars;
    std::vector<KeyFigure> figures;
};

/// Returns the chart as SVG: one lane per worker, in which gaps are idle time. If there are too
/// many workers to distinguish, only the first are drawn, and a note states this.
std::string gantt(const GanttChart& chart);

/// Values at consecutive positions; NaN if a position has none.
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
    std::string place;              ///< name of a position: "frame"
    std::string unit;               ///< unit of all values; "" if they have none
    std::vector<Curve> curves = {}; ///< one to four
    std::vector<MarkedPlaces> marks = {};
    std::vector<KeyFigure> figures = {};
};

/// The width of a chart: of a page, or of a phone, with the same size of letters.
enum class ChartWidth { page, phone };

/// Returns the chart as SVG, with a band for deviations. If there are more positions than the chart
/// can show, neighbouring ones are merged and drawn as a line from their smallest to their largest
/// value, so the size of the SVG is bounded.
/// A chart for phones has no tooltips.
/// Requires  curves of equal length; deviations empty or of the same length (std::logic_error).
std::string curves(const CurveChart& chart, ChartWidth width = ChartWidth::page);

/// Points of several kinds on two logarithmic axes.
struct LogChart {
    struct Point {
        double x = 0, y = 0; ///< positive and finite; others are left out and counted in a note
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
    bool compares = false; ///< equal axes, with lines at y = x, 2x and x/2
    std::vector<KeyFigure> figures = {};
};

/// Returns the chart as SVG; "" if there is no point to draw.
std::string log_chart(const LogChart& chart);

} // namespace sextant::report
