// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/svg.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sextant::report {

/// A value at each of many places in a row; NaN where there is none.
struct Curve {
    std::string name;
    std::vector<double> values;
    std::vector<double> deviations = {}; ///< of the values, each way; none, or as many
};

/// Places of which something is to be known: a row of marks below the curves.
struct MarkedPlaces {
    std::string name;
    std::vector<std::int64_t> places;
};

struct CurveChart {
    std::string title, subtitle;
    std::string place;              ///< what a place is: "frame"
    std::string unit;               ///< of all values; "" for none
    std::vector<Curve> curves = {}; ///< one to four
    std::vector<MarkedPlaces> marks = {};
    std::vector<KeyFigure> figures = {};
};

/// As an SVG, with a band for deviations. Of more places than the picture has room for, those that
/// fall together show their least and largest value; so its size is bounded whatever their number.
/// Requires  as many values of each curve, and deviations where it has any (std::logic_error).
std::string curves(const CurveChart& chart);

} // namespace sextant::report
