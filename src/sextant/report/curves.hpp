// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/svg.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sextant::report {

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

} // namespace sextant::report
