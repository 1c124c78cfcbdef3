// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"
#include "sextant/registration/transform/combined.hpp"

#include <cstdint>

namespace sextant::registration {

/// The pixels in which the mean of registered frames differs from their median by more than noise:
/// a hot pixel of the detector, which drifts over the specimen as a streak, or a cosmic ray in one
/// frame changes the mean but hardly the median.
struct Streaks {
    std::int64_t pixels = 0;   ///< number of such pixels
    std::int64_t x = 0, y = 0; ///< the pixel with the largest difference, if there is any
    double most = 0;           ///< the largest difference, in standard deviations of noise
};

/// Finds the pixels in which mean and median differ by more than `threshold` times the standard
/// deviation that noise causes. That is estimated from the differences themselves, by their median
/// absolute deviation in tiles of 32x32 pixels, because noise often varies with the brightness.
/// Differences are weighted by the number of frames that cover a pixel; pixels that fewer than half
/// of the frames, or fewer than five, cover are skipped.
///
/// Input     the whole mean, median and count of an image of this shape (std::logic_error
///           otherwise).
/// Cost      a few operations per pixel; none for fewer than five frames.
Streaks find_streaks(const Combined& combined, ImageShape shape, double threshold = 10);

} // namespace sextant::registration
