// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/edge/edge_detector.hpp"
#include "sextant/kernel/label/directions.hpp"
#include "sextant/kernel/label/labels.hpp"

#include <vector>

namespace sextant::kernel {

/// Edges of a whole image, from the definition, step by step.
struct Edges {
    std::vector<std::uint8_t> maxima;  ///< as find_edges()
    std::vector<std::uint8_t> kept;    ///< those that hang together with a strong one (8
                                       ///< neighbours), as weak ones with their headings
    std::vector<std::uint8_t> thinned; ///< of those, what Thinning leaves when nothing changes
    std::vector<Direction> directions; ///< as find_directions()
};

/// What the steps of the detector mean, and are tested against.
/// Input     the gradient of the whole image.
/// Requires  thresholds as find_edges().
/// Cost      O(pixels) for each round of thinning.
Edges canny_reference(const GradientView& gradient, EdgeThresholds thresholds);

/// Labels and the components that have them.
struct Labelling {
    std::vector<Label> labels; ///< of the tile, row by row
    std::vector<Component> components;
};

/// Connected components from the definition: each is flooded from its first pixel. What Labeller
/// means, and is tested against.
/// Cost      O(pixels).
Labelling labels_reference(const ValueView& input, Connection connection);

/// An edge point's place on its contour.
struct Ranked {
    Elements head = -1; ///< the pixel, y · width + x, that its contour ends at; −1: no edge point
    Elements rank = -1; ///< links to it
    bool operator==(const Ranked&) const = default;
};

/// Contours of a whole direction map from the definition: links to one point are cut but that of
/// the lowest direction; then every contour is walked from its head against its links. A closed
/// contour has its smallest pixel as head. What ContourRanking means, and is tested against.
///
/// Output    of every pixel, row by row.
/// Requires  a view of the whole image whose links lead to edge points; otherwise throws
///           InvalidTask.
/// Cost      O(pixels).
std::vector<Ranked> contours_reference(const DirectionView& input);

} // namespace sextant::kernel
