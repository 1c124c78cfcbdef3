// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/operator.hpp"

#include <string_view>
#include <vector>

#include "tests/kernel/kinds.hpp"

// Layers with few active pixels, or with pixels that look empty.
namespace sextant::test {

struct Drawing {
    std::string_view name;
    /// True if the pixel is active; rows have 61 pixels.
    bool (*drawn)(Elements element, Elements elements, int layer, int layers);
    bool equal = false; ///< true if active pixels all have one colour
};

inline bool in_rows_of_an_ellipse(Elements element, Elements elements, int layer, int layers) {
    const double side = 61, rows = static_cast<double>(elements) / side;
    const double x = static_cast<double>(element % 61) / side - (layer + 1.0) / (layers + 1.0);
    const double y = static_cast<double>(element / 61) / rows - .5;
    return x * x + y * y < .08;
}

inline constexpr Drawing drawings[] = {
    {"nothing", [](Elements, Elements, int, int) { return false; }},
    {"everything", [](Elements, Elements, int, int) { return true; }},
    {"every other element",
     [](Elements e, Elements, int layer, int) { return (e + layer) % 2 == 0; }},
    {"cells", [](Elements e, Elements, int layer, int) { return (e / 16 + layer) % 2 == 0; }},
    {"an ellipse", in_rows_of_an_ellipse},
    {"an ellipse of one colour", in_rows_of_an_ellipse, true},
    {"one element", [](Elements e, Elements elements, int, int) { return e == elements / 2; }},
    {"the last element", [](Elements e, Elements elements, int, int) { return e == elements - 1; }},
    {"all by the middle layer",
     [](Elements, Elements, int layer, int layers) { return layer == layers / 2; }},
    {"all but the last third", [](Elements e, Elements n, int, int) { return e < n - n / 3; },
     true},
};

/// Pixels of a drawing: arbitrary bits at active pixels, empty ones elsewhere.
template <class Pixel>
std::vector<Pixel> draw(const Drawing& drawing, const Operator& op, Elements elements, int layer,
                        int layers) {
    Random random(static_cast<unsigned>(31 + layer));
    std::vector<Pixel> pixels(static_cast<std::size_t>(elements));
    op.fill_identity(bytes_of(pixels), elements);
    const Pixel colour = Pixels<Pixel>::usual(random);
    for (Elements e = 0; e < elements; ++e) {
        if (drawing.drawn(e, elements, layer, layers))
            pixels[static_cast<std::size_t>(e)] =
                drawing.equal ? colour : Pixels<Pixel>::odd(random);
    }
    return pixels;
}

/// An empty element.
inline std::vector<std::byte> undrawn(const Operator& op) {
    std::vector<std::byte> nothing(static_cast<std::size_t>(op.element.size));
    op.fill_identity(nothing.data(), 1);
    return nothing;
}

} // namespace sextant::test
