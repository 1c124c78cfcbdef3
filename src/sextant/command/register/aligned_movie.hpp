// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/pages/overview.hpp"
#include "sextant/format/animation.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace sextant::command {

/// Makes an animation of aligned frames: at most 100 pictures of at most 512 pixels per side and 4
/// million pixels in all, with one grey scale. A picture is one frame or, in long or noisy series,
/// the mean of several successive frames; gaps are black.
///
/// Cost      memory: 4 bytes per pixel of all pictures.
class AlignedMovie {
  public:
    /// `frame`: the shape of an aligned frame. `noise`: the noise variance of a frame divided by
    /// its signal variance. As many frames are averaged as reduce this ratio to 1, but at least ten
    /// pictures remain.
    AlignedMovie(ImageShape frame, std::int64_t frames, double noise);

    std::int64_t frames_per_picture() const { return per_picture_; }
    /// Appends rows: all rows of the first frame, then of the second one, and so on. NaN: no data.
    void add(std::span<const float> rows);
    /// Returns the pictures of all frames.
    format::Animation finish() const;

  private:
    const ImageShape frame_;
    const std::int64_t frames_, per_picture_;
    const Elements side_;
    Overview next_; ///< the picture to which frames are added
    Elements row_ = 0;
    std::int64_t added_ = 0; ///< number of complete frames
    std::vector<std::vector<float>> pictures_;
};

} // namespace sextant::command
