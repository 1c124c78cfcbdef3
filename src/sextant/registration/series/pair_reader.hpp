// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/core/image.hpp"
#include "sextant/registration/correct/shading.hpp"
#include "sextant/registration/pair/rigid.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sextant::registration {

/// Statistics of a frame, used to decide whether the frame can be registered.
struct FrameStatistics {
    double mean = 0; ///< mean of the finite samples
    double least = 0, largest = 0;
    std::int64_t at_largest = 0; ///< number of samples equal to the largest
    std::int64_t gaps = 0;       ///< number of samples that are not finite
    std::int64_t samples = 0;
    double deviation = 0; ///< standard deviation of the filtered frame
    Shading shading{};
};

FrameStatistics statistics_of(std::span<const float> samples);

/// Returns true if the statistics imply that two frames have the same samples.
bool same_samples(const FrameStatistics& a, const FrameStatistics& b);

/// Returns the median of the frames' means. Returns 0 if the samples are differences, which is
/// assumed if negative samples reach as far from 0 as the mean.
double usual_mean(std::span<const FrameStatistics> frames);

/// Limits beyond which a frame is left out.
struct FrameLimits {
    /// Minimum mean, as a fraction of the usual mean. A darker frame was probably recorded with the
    /// beam off. Not applied if the samples are differences.
    double least_brightness = .05;
    double most_gaps = .75; ///< largest fraction of samples that are gaps (for example masked)
};

/// Returns the reason why a frame is left out; "" if the frame is usable.
std::string fault_of(const FrameStatistics& frame, double usual_mean, const FrameLimits& limits);

/// Reads frames of a series into pyramids and registers them. The most recently used pyramids are
/// cached.
///
/// Cost      memory: one frame, and a pyramid for each cached frame.
/// Throws    the same exceptions as FrameSource; UnusableFrame.
class PairReader {
  public:
    /// Requires  kept >= 2 (std::logic_error). The team must outlive this object. `offset`, which
    ///           the source subtracted from its samples, is added back for FrameStatistics.
    PairReader(FrameSource& source, const RigidOptions& options, double prefilter, int kept,
               Team* team = nullptr, double offset = 0);

    /// Returns the statistics of a frame. Throws UnusableFrame if no pyramid can be built from it.
    FrameStatistics statistics(std::int64_t frame);

    /// Returns the samples of the frame that was read last.
    std::span<const float> samples() const { return samples_; }

    RigidResult align(std::int64_t reference, std::int64_t moved);
    RigidResult locate(std::int64_t reference, std::int64_t moved);
    RigidResult refine(std::int64_t reference, std::int64_t moved, const RigidMotion& start);
    /// Registers a frame to a pyramid of the same shape and prefilter.
    RigidResult refine(const Pyramid& reference, std::int64_t moved, const RigidMotion& start);
    /// The same, with a search over the whole range of motions.
    RigidResult align(const Pyramid& reference, std::int64_t moved);
    /// Takes over the cached pyramids of another reader. Requires the same samples, prefilter and
    /// team.
    void take_frames(PairReader&& other);
    /// Returns the pyramid of a frame. Valid until the next access to another frame.
    const Pyramid& pyramid(std::int64_t frame) { return kept(frame).pyramid; }

  private:
    struct Kept {
        Pyramid pyramid;
        std::int64_t frame = -1, used = 0;
        FrameStatistics statistics = {};
    };

    FrameStatistics read(std::int64_t frame);
    Kept& kept(std::int64_t frame);

    FrameSource& source_;
    double offset_;
    std::vector<float> samples_;
    std::vector<Kept> kept_;
    std::int64_t uses_ = 0;
    RigidRegistration registration_;
};

} // namespace sextant::registration
