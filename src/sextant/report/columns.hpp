// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/svg.hpp"

#include <functional>
#include <string>
#include <vector>

namespace sextant::report {

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

} // namespace sextant::report
