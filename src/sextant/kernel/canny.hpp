// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/core/image.hpp"
#include "sextant/kernel/directions.hpp"

#include <cstdint>

// The steps of an edge detector that look at a few pixels only, of an image or a tile. Hysteresis,
// which does not, lies in distributed/canny.hpp.
namespace sextant::kernel {

/// The gradient of a rectangle of an image, which may be the whole of it.
struct GradientView {
    const float *x = nullptr, *y = nullptr; ///< at the top left
    Elements stride = 0;                    ///< of both
    Tile tile;                              ///< where the rectangle lies in the image
    ImageShape image;                       ///< the whole
};

/// Lengths of the gradient: edges are followed down to `low` from where they exceed `high`.
struct EdgeThresholds {
    double low = 0, high = 0;
};

/// What a pixel is to an edge.
inline constexpr std::uint8_t not_edge = 0, weak_edge = 1, strong_edge = 2;

/// Pixels of bytes.
struct EdgeView {
    const std::uint8_t* first = nullptr; ///< at the top left of `tile`
    Elements stride = 0;
    Tile tile;
    ImageShape image;
};

/// Suppresses what is no maximum: an edge point's gradient is longer than that of the neighbour
/// before it, row by row, and no shorter than that of the one behind it, of the two that lie along
/// the gradient (rounded to eighths of a turn); beyond the image it is 0.
///
/// Input     the gradient of the tile and the pixels around it, as far as the image goes.
/// Output    of each pixel of the tile not_edge, weak_edge from `low` on, strong_edge from `high`
///           on, row by row. A gradient that is no number is none.
/// Requires  thresholds 0 ≤ low ≤ high, a tile within the image, a gradient that holds what it
///           reads; otherwise throws InvalidTask. Lengths between 10⁻¹⁸ and 10¹⁸: smaller are 0.
/// Cost      O(pixels / lanes); three rows of squared lengths are kept.
/// Deterministic  the same however the image is cut, on every processor.
/// Source    Canny, IEEE TPAMI 8(6), 1986, doi:10.1109/TPAMI.1986.4767851
void find_edges(const GradientView& gradient, const Tile& tile, EdgeThresholds thresholds,
                std::uint8_t* edges);

/// Throws InvalidTask unless 0 ≤ low ≤ high.
void require_thresholds(EdgeThresholds thresholds);

/// to[i] = x[i]² + y[i]².
void squared_lengths(const float* x, const float* y, Elements count, float* to);

/// How many pixels around a tile a round of thinning reads.
inline constexpr Elements thinning_margin = 4;

/// A round of thinning: takes off pixels whose neighbours hang together without them, but no ends
/// of lines; first those of even columns and rows, then of odd columns, of odd rows, of both, so
/// that no two that are taken off at once touch, and lines stay connected. Repeated until nothing
/// changes, lines are one pixel wide.
///
/// Input     edges (not 0) of the tile and `thinning_margin` pixels around it, as far as the image
///           goes, which are changed.
/// Output    the tile's as after the round; those around it are not.
/// Returns   how many of the tile's were taken off.
/// Deterministic  the same however the image is cut.
Elements thin(std::uint8_t* edges, const Tile& held, const Tile& tile, ImageShape image);

/// Which neighbour follows each edge point: of those ahead, the one nearest to the direction of the
/// edge, at right angles to the gradient with the brighter side to the left of who goes along it;
/// of two as near the one of the lower code. Where none lies ahead the point is an end.
///
/// Input     edges (not 0) of the tile and the pixels around it; the gradient of the tile.
/// Output    directions of the tile, row by row.
/// Deterministic  the same however the image is cut.
void find_directions(const EdgeView& edges, const GradientView& gradient, const Tile& tile,
                     Direction* directions);

} // namespace sextant::kernel
