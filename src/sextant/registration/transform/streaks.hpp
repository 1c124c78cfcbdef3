// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"
#include "sextant/registration/transform/combined.hpp"

#include <cstdint>

namespace sextant::registration {

/// The pixels in which the mean of registered frames differs from the median by more than noise.
/// Outliers change the mean but hardly the median: for example, a hot detector pixel, which drifts
/// over the specimen as a streak, or a cosmic ray in one frame.
struct Streaks {
    std::int64_t pixels = 0;   ///< number of such pixels
    std::int64_t x = 0, y = 0; ///< pixel with the largest difference, if there is any
    double most = 0;           ///< the largest difference, in standard deviations of noise
};

/// Finds the pixels in which mean and median differ by more than `threshold` standard deviations of
/// noise. The noise is estimated from the median absolute difference in tiles of 32x32 pixels,
/// because noise often varies with the brightness. Differences are weighted by the number of frames
/// that cover a pixel; pixels that are covered by fewer than half of the frames, or by fewer than
/// five, are skipped.
///
/// Input     mean, median and count of a whole image of this shape (std::logic_error otherwise).
/// Cost      a few operations per pixel; none for fewer than five frames.
Streaks find_streaks(const Combined& combined, ImageShape shape, double threshold = 10);

} // namespace sextant::registration
