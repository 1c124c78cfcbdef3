// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/edge/edge_finder.hpp"

#include "sextant/core/error.hpp"
#include "sextant/kernel/edge/edge_rows.hpp"
#include "sextant/kernel/filter/lengths.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace sextant::kernel {

namespace {

constexpr std::array<Derivative, 2> gradient{{{1, 0}, {0, 1}}};

} // namespace

EdgeFinder::EdgeFinder(double sigma) : derivatives_(sigma, gradient) {}

/// Strips as wide as derivatives take them with the pixels beside.
template <class Body>
void EdgeFinder::each_strip(const Tile& tile, Body&& body) const {
    const Elements width = derivatives_.strip_width() - 2;
    for (Elements x = 0; x < tile.width && tile.height > 0; x += width)
        body(Tile{tile.x + x, tile.y, std::min(width, tile.width - x), tile.height});
}

void EdgeFinder::find(SamplePieces input, const Tile& tile, EdgeThresholds thresholds,
                      const EdgePlane& codes) {
    require_thresholds(thresholds);
    if (input.empty())
        throw InvalidTask("edges of no samples");
    const ImageShape image = input.front().image;
    if (tile.x < 0 || tile.y < 0 || tile.x + tile.width > image.width ||
        tile.y + tile.height > image.height)
        throw InvalidTask(
            fmt::format("edges of {}x{} pixels at ({}, {}), expected them within {}x{}", tile.width,
                        tile.height, tile.x, tile.y, image.width, image.height));
    each_strip(tile, [&](const Tile& strip) {
        EdgeRows rows(strip, image, thresholds, {codes.first + strip.x - tile.x, codes.stride});
        derivatives_.each_row(input, rows.needed(), [&](std::span<const float* const> row) {
            rows.take(row[0], row[1]);
        });
    });
}

void EdgeFinder::measure(SamplePieces input, const Tile& tile, float* to) {
    each_strip(tile, [&](const Tile& strip) {
        float* first = to + strip.x - tile.x;
        derivatives_.each_row(input, strip, [&](std::span<const float* const> row) {
            lengths(row[0], row[1], strip.width, first);
            first += tile.width;
        });
    });
}

} // namespace sextant::kernel
