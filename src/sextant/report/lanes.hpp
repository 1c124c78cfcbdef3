// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/svg.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace sextant::report {

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

} // namespace sextant::report
