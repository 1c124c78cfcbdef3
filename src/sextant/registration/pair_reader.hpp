// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/frame_source.hpp"
#include "sextant/core/image.hpp"
#include "sextant/registration/rigid.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

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

/// Reads frames of a series into pyramids, and registers them. The frames that were looked at last
/// are kept, so many of them, and not read again.
///
/// Cost      memory: a frame, and a pyramid for each that is kept.
/// Throws    as FrameSource; UnusableFrame.
class PairReader {
  public:
    /// Requires  two frames kept or more (std::logic_error). A team stays. `offset` was taken off
    ///           the source's samples; what a frame is like is told with it.
    PairReader(FrameSource& source, const RigidOptions& options, double prefilter, int kept,
               Team* team = nullptr, double offset = 0);

    /// What a frame is like. Throws UnusableFrame where it could be no pyramid, whatever others
    /// are.
    FrameLook look(std::int64_t frame);

    RigidResult align(std::int64_t reference, std::int64_t moved);
    RigidResult refine(std::int64_t reference, std::int64_t moved, const RigidMotion& start);
    /// To an image of the frames' shape, which was filtered as they are.
    RigidResult refine(const Pyramid& reference, std::int64_t moved, const RigidMotion& start);

  private:
    struct Kept {
        Pyramid pyramid;
        std::int64_t frame = -1, used = 0;
        FrameLook look = {};
    };

    FrameLook read(std::int64_t frame);
    const Kept& kept(std::int64_t frame);

    FrameSource& source_;
    double offset_;
    std::vector<float> samples_;
    std::vector<Kept> kept_;
    std::int64_t uses_ = 0;
    RigidRegistration registration_;
};

} // namespace sextant::registration
