// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/lanes.hpp"

#include <cmath>

namespace sextant::report {

namespace {

constexpr double line_of_text = 15, gap = 12;

} // namespace

void Lanes::place(Svg& svg) {
    svg.skip(8);
    top = svg.bottom();
    svg.skip(count * height + 2 * line_of_text);
}

void Lanes::add_styles(Svg& svg) {
    svg.colour(".band", "fill", {"#f4f6f8", "#1c2027"});
    svg.colour(".lane", "stroke", {"#d5dae0", "#363d47"});
}

void Lanes::add_names(Svg& svg, const std::function<std::string(int lane)>& name) const {
    const int every = static_cast<int>(std::ceil(13 / height));
    for (int lane = 0; lane < count; lane += every)
        svg.text(begin - gap, middle(lane) + 4, "end", name(lane));
}

void Lanes::add_axis_name(Svg& svg, std::string_view name) const {
    svg.text(begin - gap, bottom() + line_of_text, "quiet end", name);
}

void Lanes::add_axis_label(Svg& svg, double x, std::string_view label) const {
    svg.text(x, bottom() + line_of_text, "quiet middle", label);
}

} // namespace sextant::report
