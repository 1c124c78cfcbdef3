// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/edge/edge_detector.hpp"
#include "sextant/kernel/label/directions.hpp"
#include "sextant/kernel/label/labels.hpp"

#include <vector>

namespace sextant::kernel {

/// The gradient of a whole image.
struct GradientView {
    const float *x = nullptr, *y = nullptr; ///< the samples at the top left
    Elements stride = 0;                    ///< distance between rows of x and of y
    ImageShape image;
};

constexpr unsigned edge_class(std::uint8_t code) {
    return code & edge_class_bits;
}

/// Edges of a whole image, from the definition, step by step.
struct Edges {
    std::vector<std::uint8_t> maxima; ///< as from EdgeRows
    /// The edge codes of points that are 8-connected to a strong point, all of them marked as weak;
    /// 0 elsewhere.
    std::vector<std::uint8_t> kept;
    std::vector<std::uint8_t> thinned; ///< `kept` after thinning until nothing changes
    std::vector<Direction> directions; ///< as from find_directions()
};

/// The reference for each step of the edge detector.
/// Input     the gradient of the whole image.
/// Requires  thresholds 0 ≤ low ≤ high.
/// Cost      O(pixels) for each round of thinning.
Edges canny_reference(const GradientView& gradient, EdgeThresholds thresholds);

/// Labels and their components.
struct Labelling {
    std::vector<Label> labels; ///< of the tile, row by row
    std::vector<RegionSize> components;
};

/// Connected components from the definition: each is flooded from its first pixel. The reference
/// for Labeller.
/// Cost      O(pixels).
Labelling labels_reference(const ValueView& input, Connection connection);

/// The position of an edge point on its contour.
struct Ranked {
    Elements head = -1; ///< the last pixel of its contour, as y · width + x; −1: not an edge point
    Elements rank = -1; ///< number of links from the point to the head
    bool operator==(const Ranked&) const = default;
};

/// Contours of a whole direction map from the definition: of several links to one point, only the
/// one with the lowest direction is kept; then every contour is followed from its head against its
/// links. The head of a closed contour is its smallest pixel. The reference for ContourRanking.
///
/// Output    one entry per pixel, row by row.
/// Requires  a view of the whole image whose links lead to edge points; otherwise throws
///           InvalidTask.
/// Cost      O(pixels).
std::vector<Ranked> contours_reference(const DirectionView& input);

} // namespace sextant::kernel
