// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/rounds.hpp"

#include <fmt/format.h>

namespace sextant::report {

std::string RoundColours::class_of(int round) const {
    return fmt::format("r{}", colour_index(round, rounds_));
}

void RoundColours::add_styles(Svg& svg) const {
    const std::vector<Colour> colours = ordered_colours(rounds_);
    for (std::size_t i = 0; i < colours.size(); ++i) {
        svg.colour(fmt::format(".r{}", i), "stroke", colours[i]);
    }
}

std::vector<LegendEntry> RoundColours::legend() const {
    constexpr int most_named = 12, stripes = 24, stripe = 4;
    std::vector<LegendEntry> entries;
    for (int round = 0; round < rounds_ && rounds_ <= most_named; ++round) {
        entries.push_back(
            {fmt::format("<path class=\"{}\" stroke-width=\"3\" d=\"M0 6h18\"/>", class_of(round)),
             fmt::format("round {}", round)});
    }
    if (rounds_ <= most_named)
        return entries;
    LegendEntry ramp{"", fmt::format("rounds 0 to {}", rounds_ - 1), stripes * stripe};
    for (int i = 0; i < stripes; ++i) {
        ramp.symbol += fmt::format("<path class=\"{}\" stroke-width=\"8\" d=\"M{} 6h{}\"/>",
                                   class_of(i * (rounds_ - 1) / (stripes - 1)), stripe * i, stripe);
    }
    return {ramp};
}

} // namespace sextant::report
