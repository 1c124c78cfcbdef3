// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/canny.hpp"

#include "sextant/core/error.hpp"
#include "sextant/kernel/edge_points.hpp"
#include "sextant/kernel/edge_row.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include <fmt/format.h>

namespace sextant::kernel {

namespace {

bool holds(const Tile& held, const Tile& part) {
    return part.x >= held.x && part.y >= held.y && part.x + part.width <= held.x + held.width &&
           part.y + part.height <= held.y + held.height;
}

/// A rectangle with so many pixels around it, as far as the image goes.
Tile grown(const Tile& tile, Elements by, ImageShape image) {
    const Elements x = std::max<Elements>(tile.x - by, 0), y = std::max<Elements>(tile.y - by, 0);
    return {x, y, std::min(tile.x + tile.width + by, image.width) - x,
            std::min(tile.y + tile.height + by, image.height) - y};
}

/// Rows of squared lengths around the tile, of which three are kept: 0 beyond the image.
class SquaredRows {
  public:
    SquaredRows(const GradientView& gradient, const Tile& tile)
        : gradient_(gradient),
          read_(grown(tile, 1, gradient.image)),
          left_(tile.x - 1),
          pitch_(static_cast<std::size_t>(tile.width + 2)),
          values_(3 * pitch_, 0.F) {}

    /// Computes a row of the image; [−1] of `row` is the pixel left of the tile.
    void compute(Elements y) {
        float* const to = first(y);
        if (y < read_.y || y >= read_.y + read_.height) {
            std::fill_n(to, pitch_, 0.F);
            return;
        }
        const Elements at = (y - gradient_.tile.y) * gradient_.stride + read_.x - gradient_.tile.x;
        squared_lengths(gradient_.x + at, gradient_.y + at, read_.width, to + (read_.x - left_));
    }
    const float* row(Elements y) { return first(y) + 1; }

  private:
    float* first(Elements y) {
        return values_.data() + static_cast<std::size_t>((y + 3) % 3) * pitch_;
    }

    const GradientView& gradient_;
    const Tile read_;
    const Elements left_;
    const std::size_t pitch_;
    std::vector<float> values_;
};

/// [neighbours, a bit a direction]: whether a pixel may be taken off. Its neighbours hang together
/// without it, in one piece, and it is no end of a line.
constexpr std::array<bool, 256> removable_table() {
    std::array<bool, 256> table{};
    for (unsigned bits = 0; bits < 256; ++bits) {
        const auto empty = [bits](unsigned k) { return (bits >> (k % 8) & 1) == 0; };
        int pieces = 0;
        for (unsigned k = 0; k < 8; k += 2)
            pieces += empty(k) && !(empty(k + 1) && empty(k + 2)) ? 1 : 0;
        table[bits] = pieces == 1 && std::popcount(bits) > 1;
    }
    return table;
}
constexpr std::array<bool, 256> removable = removable_table();

/// Pixels in a rectangle of memory; none beyond the image.
class Pixels {
  public:
    Pixels(const std::uint8_t* first, Elements stride, const Tile& held, ImageShape image)
        : first_(first), stride_(stride), held_(held), image_(image) {}

    bool at(Elements x, Elements y) const {
        return x >= 0 && x < image_.width && y >= 0 && y < image_.height &&
               first_[(y - held_.y) * stride_ + x - held_.x] != 0;
    }
    unsigned neighbours(Elements x, Elements y) const {
        unsigned bits = 0;
        if (x > 0 && x + 1 < image_.width && y > 0 && y + 1 < image_.height) {
            const std::uint8_t* const here = first_ + (y - held_.y) * stride_ + x - held_.x;
            for (unsigned code = 0; code < 8; ++code)
                bits |= unsigned{here[steps[code].y * stride_ + steps[code].x] != 0} << code;
            return bits;
        }
        for (unsigned code = 0; code < 8; ++code)
            bits |= unsigned{at(x + steps[code].x, y + steps[code].y)} << code;
        return bits;
    }

  private:
    const std::uint8_t* first_;
    Elements stride_;
    const Tile& held_;
    ImageShape image_;
};

struct Point {
    Elements x, y; ///< in the image
};

/// By the parities of columns and rows: those that a pass of thinning looks at.
using PointsOfPasses = std::array<std::vector<Point>, 4>;

/// The edge points of a part of a rectangle.
PointsOfPasses points_in(const std::uint8_t* edges, const Tile& held, const Tile& part) {
    PointsOfPasses points;
    for (Elements y = part.y; y < part.y + part.height; ++y) {
        const std::uint8_t* const row = edges + (y - held.y) * held.width + part.x - held.x;
        each_edge_point(row, part.width, [&](Elements i) {
            const Elements x = part.x + i;
            points[static_cast<std::size_t>((y & 1) * 2 + (x & 1))].push_back({x, y});
        });
    }
    return points;
}

/// The nearest of an edge point's neighbours to the direction (x, y) of the edge.
Direction nearest_ahead(unsigned neighbours, float x, float y) {
    constexpr float diagonal = .70710678F;
    Direction nearest = edge_end;
    float best = 0;
    for (Direction code = 0; code < 8; ++code) {
        if ((neighbours >> code & 1) == 0)
            continue;
        const float along =
            x * static_cast<float>(steps[code].x) + y * static_cast<float>(steps[code].y);
        const float cosine = code % 2 == 1 ? along * diagonal : along;
        if (cosine > best) {
            best = cosine;
            nearest = code;
        }
    }
    return nearest;
}

} // namespace

void require_thresholds(EdgeThresholds thresholds) {
    if (!(thresholds.low >= 0 && thresholds.low <= thresholds.high))
        throw InvalidTask(
            fmt::format("thresholds of edges are {} and {}, expected a low one from 0 "
                        "on and a high one no lower",
                        thresholds.low, thresholds.high));
}

void find_edges(const GradientView& gradient, const Tile& tile, EdgeThresholds thresholds,
                std::uint8_t* edges) {
    require_thresholds(thresholds);
    if (tile.elements() == 0)
        return;
    if (!holds({0, 0, gradient.image.width, gradient.image.height}, tile) ||
        !holds(gradient.tile, grown(tile, 1, gradient.image)))
        throw InvalidTask(
            fmt::format("edges of {}x{} pixels at ({}, {}) from a gradient of {}x{} at ({}, {})",
                        tile.width, tile.height, tile.x, tile.y, gradient.tile.width,
                        gradient.tile.height, gradient.tile.x, gradient.tile.y));
    const auto squared = [](double length) { return static_cast<float>(length * length); };
    SquaredRows rows(gradient, tile);
    rows.compute(tile.y - 1);
    rows.compute(tile.y);
    for (Elements y = tile.y; y < tile.y + tile.height; ++y) {
        rows.compute(y + 1);
        const Elements at = (y - gradient.tile.y) * gradient.stride + tile.x - gradient.tile.x;
        classify_edges({gradient.x + at, gradient.y + at, rows.row(y - 1), rows.row(y),
                        rows.row(y + 1), squared(thresholds.low), squared(thresholds.high),
                        edges + (y - tile.y) * tile.width, tile.width});
    }
}

Elements thin(std::uint8_t* edges, const Tile& held, const Tile& tile, ImageShape image) {
    Elements taken = 0;
    if (tile.elements() == 0)
        return taken;
    const Pixels pixels(edges, held.width, held, image);
    const PointsOfPasses points = points_in(edges, held, grown(tile, thinning_margin - 1, image));
    for (std::size_t pass = 0; pass < points.size(); ++pass) {
        const Tile part = grown(tile, thinning_margin - 1 - static_cast<Elements>(pass), image);
        for (const auto [x, y] : points[pass]) {
            if (!holds(part, {x, y, 1, 1}) || !removable[pixels.neighbours(x, y)])
                continue;
            edges[(y - held.y) * held.width + x - held.x] = 0;
            taken += holds(tile, {x, y, 1, 1}) ? 1 : 0;
        }
    }
    return taken;
}

void find_directions(const EdgeView& edges, const GradientView& gradient, const Tile& tile,
                     Direction* directions) {
    const Pixels pixels(edges.first, edges.stride, edges.tile, edges.image);
    for (Elements y = tile.y; y < tile.y + tile.height; ++y, directions += tile.width) {
        const std::uint8_t* const row =
            edges.first + (y - edges.tile.y) * edges.stride + tile.x - edges.tile.x;
        const Elements at = (y - gradient.tile.y) * gradient.stride + tile.x - gradient.tile.x;
        std::fill_n(directions, tile.width, no_edge);
        each_edge_point(row, tile.width, [&](Elements x) {
            directions[x] = nearest_ahead(pixels.neighbours(tile.x + x, y), -gradient.y[at + x],
                                          gradient.x[at + x]);
        });
    }
}

} // namespace sextant::kernel
