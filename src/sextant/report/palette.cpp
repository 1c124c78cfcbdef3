// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/palette.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

namespace sextant::report {

namespace {

constexpr int most_colours = 24;
constexpr double distinct_hues[] = {255, 50, 160, 340, 100, 205};

/// Linear red, green and blue of lightness, chroma and hue in OKLCH.
std::array<double, 3> linear_rgb(double lightness, double chroma, double hue) {
    const double a = chroma * std::cos(hue * std::numbers::pi / 180);
    const double b = chroma * std::sin(hue * std::numbers::pi / 180);
    const double l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
    const double m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
    const double s = std::pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
    return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
            -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
            -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

bool can_be_shown(const std::array<double, 3>& rgb) {
    return std::all_of(rgb.begin(), rgb.end(), [](double c) { return c >= -1e-3 && c <= 1.001; });
}

std::string hexadecimal(double lightness, double chroma, double hue) {
    std::array<double, 3> rgb = linear_rgb(lightness, chroma, hue);
    while (!can_be_shown(rgb) && chroma > 0)
        rgb = linear_rgb(lightness, chroma -= 0.005, hue);
    std::string text = "#";
    for (double c : rgb) {
        c = std::clamp(c, 0.0, 1.0);
        const double encoded = c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1 / 2.4) - 0.055;
        text += fmt::format("{:02x}", static_cast<int>(std::lround(255 * encoded)));
    }
    return text;
}

} // namespace

Colour colour_of_hue(double hue, double chroma) {
    return {hexadecimal(0.56, chroma, hue), hexadecimal(0.74, chroma * 0.85, hue)};
}

std::vector<Colour> ordered_colours(int count) {
    std::vector<Colour> colours;
    const int shown = std::min(count, most_colours);
    for (int i = 0; i < shown; ++i) {
        const bool distinct = shown <= static_cast<int>(std::size(distinct_hues));
        colours.push_back(
            colour_of_hue(distinct ? distinct_hues[i] : 265 - 285.0 * i / (shown - 1)));
    }
    return colours;
}

int colour_index(int i, int count) {
    if (count <= most_colours)
        return i;
    return static_cast<int>(static_cast<long long>(i) * most_colours / count);
}

} // namespace sextant::report
