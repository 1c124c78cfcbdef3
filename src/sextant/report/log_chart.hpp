// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/svg.hpp"

#include <functional>
#include <string>
#include <vector>

namespace sextant::report {

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
