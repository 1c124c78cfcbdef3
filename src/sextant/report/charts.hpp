// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/report/svg.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::report {

/// The distance between ticks of an axis: 1, 2 or 5 times a power of ten, for four to ten ticks.
/// Requires  a positive range.
double tick_of(double range);

/// How many digits behind the point tell such ticks apart.
int decimals_of(double tick);

/// The lanes of a picture, one below another, for ranks that do things side by side: their names to
/// the left, an axis below, and what they do between.
struct Lanes {
    static constexpr int most = 256;   ///< more cannot be told apart
    static constexpr double left = 76; ///< where they usually begin, with room for names

    int count = 0;
    double height = 0;   ///< of one
    double top = 0;      ///< of the first, once placed
    double begin = left; ///< further right for long names

    double y(int lane) const { return top + lane * height; }
    double middle(int lane) const { return y(lane) + height / 2; }
    double bottom() const { return y(count); }

    /// Below what the picture holds so far, with room for the axis.
    void place(Svg& svg);
    /// How lines of class "lane" and areas of class "band" look.
    static void add_styles(Svg& svg);
    /// As many names as there is room for.
    void add_names(Svg& svg, const std::function<std::string(int lane)>& name) const;
    void add_axis_name(Svg& svg, std::string_view name) const;
    void add_axis_label(Svg& svg, double x, std::string_view label) const;
};

/// How ticks look.
void add_time_axis_styles(Svg& svg);

/// Ticks across lanes that have been placed, and their times below; nothing where no time passes.
/// `width` is that of the duration.
void add_time_axis(Svg& svg, const Lanes& lanes, Seconds duration, double width);

/// Values side by side: one column a place, or one of each kind.
struct ColumnChart {
    struct Kind {
        std::string name;
        std::vector<double> values; ///< by place; finite and not negative
    };
    std::string title, subtitle;
    std::vector<std::string> places; ///< what stands below; where there is little room, of some
    std::vector<Kind> kinds;         ///< one to four
    std::function<std::string(double)> text; ///< a value in words
    std::vector<KeyFigure> figures;
};

/// As an SVG. Places beyond some hundreds are put together, and the picture says so: the column is
/// then the highest of them.
/// Requires  as many values of each kind as places (std::logic_error).
std::string columns(const ColumnChart& chart);

/// A stretch of work of one worker.
struct GanttBar {
    int worker = 0;
    int kind = 0; ///< index into the kinds
    Seconds begin = 0, end = 0;
    std::string title; ///< shown where a pointer rests on it
};

struct GanttChart {
    std::string title, subtitle;
    std::vector<std::string> workers;
    std::vector<std::string> kinds; ///< one to four
    std::vector<GanttBar> bars;
    std::vector<KeyFigure> figures;
};

/// Who worked on what, when, as an SVG: a lane a worker, in which what is blank is idle time.
/// Of more workers than can be told apart the first are drawn, and the picture says so.
std::string gantt(const GanttChart& chart);

} // namespace sextant::report
