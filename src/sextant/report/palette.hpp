// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace sextant::report {

/// One colour as it is on light paper and on dark: "#rrggbb".
struct Colour {
    std::string light, dark;
};

/// The colour of a hue in degrees, equally light to the eye whatever the hue (the OKLCH space), and
/// as vivid as screens can show up to `chroma`.
/// Source    Ottosson 2020, "A perceptual color space for image processing".
Colour colour_of_hue(double hue, double chroma = 0.16);

/// Colours for things in an order: up to six are told apart at a glance, more run through the hues.
/// From 25 on neighbours share one; ask `colour_index`.
std::vector<Colour> ordered_colours(int count);

/// Which of `ordered_colours(count)` the i-th thing has.
int colour_index(int i, int count);

} // namespace sextant::report
