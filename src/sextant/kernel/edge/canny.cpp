// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/edge/canny.hpp"

#include "sextant/core/error.hpp"
#include "sextant/kernel/edge/edge_bits.hpp"
#include "sextant/kernel/edge/edge_rows.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace sextant::kernel {

namespace {

bool holds(const Tile& held, const Tile& part) {
    return part.x >= held.x && part.y >= held.y && part.x + part.width <= held.x + held.width &&
           part.y + part.height <= held.y + held.height;
}

/// Rows of codes with nothing beside them, of which three are kept.
class CodeRows {
  public:
    CodeRows(const EdgeView& edges, const Tile& tile)
        : edges_(edges),
          tile_(tile),
          read_(grown(tile, 1, edges.image)),
          pitch_(static_cast<std::size_t>(tile.width + 1 + direct_slack)),
          rows_(3 * pitch_, 0) {}

    /// Reads a row; beyond the image there is none.
    void read(Elements y) {
        std::uint8_t* const to = rows_.data() + place(y) + (read_.x - tile_.x + 1);
        if (y < read_.y || y >= read_.y + read_.height)
            std::fill_n(to, read_.width, 0);
        else
            std::copy_n(edges_.first + (y - edges_.tile.y) * edges_.stride + read_.x -
                            edges_.tile.x,
                        read_.width, to);
    }
    const std::uint8_t* row(Elements y) const { return rows_.data() + place(y) + 1; }

  private:
    std::size_t place(Elements y) const { return static_cast<std::size_t>((y + 3) % 3) * pitch_; }

    const EdgeView& edges_;
    const Tile tile_, read_;
    const std::size_t pitch_;
    std::vector<std::uint8_t> rows_;
};

} // namespace

void require_thresholds(EdgeThresholds thresholds) {
    if (!(thresholds.low >= 0 && thresholds.low <= thresholds.high))
        throw InvalidTask(
            fmt::format("thresholds of edges are {} and {}, expected a low one from 0 "
                        "on and a high one no lower",
                        thresholds.low, thresholds.high));
}

void find_edges(const GradientView& gradient, const Tile& tile, EdgeThresholds thresholds,
                const EdgePlane& codes) {
    require_thresholds(thresholds);
    if (tile.elements() == 0)
        return;
    if (!holds({0, 0, gradient.image.width, gradient.image.height}, tile) ||
        !holds(gradient.tile, grown(tile, 1, gradient.image)))
        throw InvalidTask(
            fmt::format("edges of {}x{} pixels at ({}, {}) from a gradient of {}x{} at ({}, {})",
                        tile.width, tile.height, tile.x, tile.y, gradient.tile.width,
                        gradient.tile.height, gradient.tile.x, gradient.tile.y));
    EdgeRows rows(tile, gradient.image, thresholds, codes);
    const Tile& needed = rows.needed();
    for (Elements y = needed.y; y < needed.y + needed.height; ++y) {
        const Elements at = (y - gradient.tile.y) * gradient.stride + needed.x - gradient.tile.x;
        rows.take(gradient.x + at, gradient.y + at);
    }
}

void find_directions(const EdgeView& edges, const Tile& tile, Direction* directions) {
    if (tile.elements() == 0)
        return;
    CodeRows rows(edges, tile);
    rows.read(tile.y - 1);
    rows.read(tile.y);
    for (Elements y = tile.y; y < tile.y + tile.height; ++y, directions += tile.width) {
        rows.read(y + 1);
        direct_edges({rows.row(y - 1), rows.row(y), rows.row(y + 1), directions, tile.width});
    }
}

} // namespace sextant::kernel
