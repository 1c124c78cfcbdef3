// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace sextant::registration {

/// What shows whether a frame is fit for registration.
struct FrameLook {
    double mean = 0; ///< of the samples that are finite
    double least = 0, largest = 0;
    std::int64_t at_largest = 0; ///< samples that are as large as the largest
    std::int64_t gaps = 0;       ///< samples that are not finite
    std::int64_t samples = 0;
};

FrameLook look_at(std::span<const float> samples);

/// What frames of a series usually are.
struct UsualLook {
    double mean = 0;    ///< the median of the frames' means
    double largest = 0; ///< of all samples of all frames
};

UsualLook usual_look(std::span<const FrameLook> frames);

/// What a frame must be like.
struct LookLimits {
    /// A frame darker than this share of what is usual is no picture: the beam was off.
    double least_brightness = .25;
    /// More of a frame than this at the largest value of the series is clipped. Not judged of
    /// integers up to 16: counts of electrons are often the largest that occurs.
    double most_saturated = .25;
    double most_gaps = .5; ///< samples that are not finite: those of a mask, say
};

/// Why a frame is left out; "" where it is fit.
std::string fault_of(const FrameLook& frame, const UsualLook& usual, const LookLimits& limits);

} // namespace sextant::registration
