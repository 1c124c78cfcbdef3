// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant::registration {

/// The mirroring of a gain image: none, left to right, or top to bottom.
enum class Mirror { none, x, y };

/// The orientation of a gain image: it is rotated, then mirrored, before it is used.
struct GainOrientation {
    int turns = 0; ///< quarter turns clockwise
    Mirror mirror = Mirror::none;

    bool operator==(const GainOrientation&) const = default;
};

/// Rotates and mirrors an image of this shape. An odd number of quarter turns swaps its width and
/// height.
std::vector<double> oriented(std::span<const double> image, ImageShape shape,
                             GainOrientation orientation);

/// A comparison of a gain image with the frames to which it belongs.
struct GainFit {
    GainOrientation orientation; ///< the one that fits best, relative to the image as it is used
    bool reciprocal = false;     ///< true if the reciprocal of the image fits
    double given = 0, best = 0;  ///< correlations of the fine detail: as used, and the best

    /// Returns "mirrored left to right (correlation of fine detail 0.41, as given 0.01)".
    std::string text() const;
};

/// Compares the fine detail of a gain image, in all orientations, with that of the mean of the
/// recorded frames, in which moving specimens are blurred and the gain is not.
///
/// Input     the mean of frames without correction, and the gain as it is used. Pixels that are not
///           positive and finite are ignored.
/// Output    the orientation that fits best, if it fits significantly better than the given one.
/// Cost      eight passes over the image; four if it is not square.
std::optional<GainFit> better_gain(std::span<const float> mean, std::span<const double> gain,
                                   ImageShape shape);

} // namespace sextant::registration
