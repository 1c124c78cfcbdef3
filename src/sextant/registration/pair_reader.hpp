// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/frame_source.hpp"
#include "sextant/registration/frame_look.hpp"
#include "sextant/registration/rigid.hpp"

#include <cstdint>
#include <vector>

namespace sextant::registration {

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
