// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/core/image.hpp"
#include "sextant/kernel/edge/edge_code.hpp"
#include "sextant/kernel/label/directions.hpp"

#include <cstdint>

// The steps of an edge detector that look at a few pixels only, of an image or a tile; from an
// image to edges in one go: edge_finder.hpp; thinning: thinning.hpp. Hysteresis, which looks at
// all, lies in distributed/canny.hpp.
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

/// Where codes of edges go (edge_code.hpp).
struct EdgePlane {
    std::uint8_t* first = nullptr; ///< at the top left
    Elements stride = 0;           ///< from one row to the next
};

/// Codes of edges of a rectangle of an image; where a code is not 0 there is an edge.
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
/// Output    of each pixel of the tile not_edge, or its heading and weak_edge from `low` on,
///           strong_edge from `high` on. A gradient that is no number is none.
/// Requires  thresholds 0 ≤ low ≤ high, a tile within the image, a gradient that holds what it
///           reads; otherwise throws InvalidTask.
/// Cost      O(pixels / lanes); three rows of lengths are kept.
/// Deterministic  the same however the image is cut, on every processor.
/// Source    Canny, IEEE TPAMI 8(6), 1986, doi:10.1109/TPAMI.1986.4767851
void find_edges(const GradientView& gradient, const Tile& tile, EdgeThresholds thresholds,
                const EdgePlane& codes);

/// Throws InvalidTask unless 0 ≤ low ≤ high.
void require_thresholds(EdgeThresholds thresholds);

/// Which neighbour follows each edge point: of those ahead, the one nearest to the direction of the
/// edge, at right angles to the gradient with the brighter side to the left of who goes along it;
/// it counts as that of the middle of its sixteenth of a turn. Where none lies ahead the point is
/// an end.
///
/// Input     codes of the tile and the pixels around it, as far as the image goes.
/// Output    directions of the tile, row by row; they may take the place of the view's codes, from
///           the first on.
/// Deterministic  the same however the image is cut.
void find_directions(const EdgeView& edges, const Tile& tile, Direction* directions);

} // namespace sextant::kernel
