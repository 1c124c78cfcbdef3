// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/kinds.hpp"

#include <fmt/format.h>

namespace sextant::report {

std::string swatch(std::string_view style_class) {
    return fmt::format("<rect class=\"{}\" x=\"0\" y=\"1\" width=\"18\" height=\"10\" rx=\"2\"/>",
                       style_class);
}

void add_kind_styles(Svg& svg, std::size_t kinds, const KindHues& hues) {
    for (std::size_t kind = 0; kind < kinds; ++kind)
        svg.colour(fmt::format(".kind-{}", kind), "fill", colour_of_hue(hues.at(kind)));
}

void add_kind_legend(Svg& svg, const std::vector<std::string>& names) {
    std::vector<LegendEntry> entries;
    for (std::size_t kind = 0; kind < names.size(); ++kind)
        entries.push_back({swatch(fmt::format("kind-{}", kind)), names[kind]});
    svg.legend(entries);
}

} // namespace sextant::report
