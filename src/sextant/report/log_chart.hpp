// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/svg.hpp"

#include <functional>
#include <string>
#include <vector>

namespace sextant::report {

/// Points of several kinds, both axes logarithmic.
struct LogChart {
    struct Point {
        double x = 0, y = 0; ///< positive and finite; others are left out, and counted in a note
        std::string title = {};
    };
    struct Kind {
        std::string name;
        std::vector<Point> points = {};
        bool joined = false; ///< by a line, in the order of x
    };
    std::string title, subtitle = {};
    std::string x_name = {}, y_name = {};
    std::function<std::string(double)> x_text = {}, y_text = {}; ///< values in words
    std::vector<Kind> kinds = {};
    bool compares = false; ///< both axes alike, with the line of equals and those of twice as much
    std::vector<KeyFigure> figures = {};
};

/// As an SVG; "" where there is no point to draw.
std::string log_chart(const LogChart& chart);

} // namespace sextant::report
