// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/core/image.hpp"
#include "sextant/registration/correct/shading.hpp"
#include "sextant/registration/pair/rigid.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
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

class PairReader;

/// A frame of a series that has been read.
struct ReadFrame {
    Pyramid pyramid;
    FrameStatistics statistics = {};
    std::int64_t number = -1, used = 0;
    const PairReader* reader = nullptr; ///< the reader that filled the pyramid
};

/// The most recently used frames of one source, shared by readers with the same prefilter.
/// Thread-safe.
class FrameCache {
  public:
    /// `finest`: the finest level of the pyramids that is kept.
    explicit FrameCache(std::size_t most, int finest = 0) : most_(most), finest_(finest) {}

    /// Returns a frame; null if it is not in the cache.
    std::shared_ptr<const ReadFrame> find(std::int64_t number);
    /// Removes and returns the least recently used frame if the cache is full; otherwise null.
    std::shared_ptr<ReadFrame> make_room();
    void add(std::shared_ptr<ReadFrame> frame);
    void clear();
    int finest() const { return finest_; }
    /// Returns an empty cache for as many frames.
    std::shared_ptr<FrameCache> another(int finest) const {
        return std::make_shared<FrameCache>(most_, finest);
    }

  private:
    std::size_t most_;
    int finest_;
    std::mutex mutex_;
    std::vector<std::shared_ptr<ReadFrame>> frames_;
    std::int64_t uses_ = 0;
};

/// Returns the cache of a rank: for the frames that `threads` readers need to register each frame
/// to `farthest` frames before it, or as many as fit into `memory`.
std::shared_ptr<FrameCache> cache_for(ImageShape shape, int farthest, int threads, int finest,
                                      Bytes memory);

/// Reads frames of a series into pyramids and registers them.
///
/// Cost      memory: one frame, beside the frames of the cache.
/// Throws    the same exceptions as FrameSource; UnusableFrame.
class PairReader {
  public:
    /// The finest level that is compared (RigidRegistration) is that of the cache. The team must
    /// outlive this object. `offset`, which the source subtracted from its samples, is added back
    /// for FrameStatistics.
    PairReader(FrameSource& source, const RigidOptions& options, double prefilter,
               std::shared_ptr<FrameCache> cache, Team* team = nullptr, double offset = 0);

    /// Returns the statistics of a frame. Throws UnusableFrame if no pyramid can be built from it.
    FrameStatistics statistics(std::int64_t frame);

    /// Returns the samples of the frame that was read last.
    std::span<const float> samples() const { return samples_; }

    /// Reads samples into this memory instead of its own from now on. The pyramids of frames do not
    /// need it after they are filled. Requires room for a frame.
    void read_into(std::span<float> memory) { room_ = memory; }

    RigidResult align(std::int64_t reference, std::int64_t moved);
    RigidResult locate(std::int64_t reference, std::int64_t moved);
    RigidResult refine(std::int64_t reference, std::int64_t moved, const RigidMotion& start);
    /// Registers a frame to a pyramid of the same shape and prefilter.
    RigidResult refine(const Pyramid& reference, std::int64_t moved, const RigidMotion& start);
    /// The same, with a search over the whole range of motions.
    RigidResult align(const Pyramid& reference, std::int64_t moved);
    /// Returns the pyramid of a frame, with the levels that the cache keeps. Valid until another
    /// frame is accessed.
    const Pyramid& pyramid(std::int64_t frame) {
        last_ = nullptr;
        last_ = read(frame);
        return last_->pyramid;
    }

  private:
    FrameStatistics read_samples(std::int64_t frame);
    std::shared_ptr<const ReadFrame> read(std::int64_t frame);

    FrameSource& source_;
    double prefilter_, offset_;
    Team* team_;
    std::vector<float> own_samples_;
    std::span<float> room_;    ///< memory of others for samples, if any
    std::span<float> samples_; ///< of the frame that was read last
    std::shared_ptr<FrameCache> cache_;
    std::shared_ptr<const ReadFrame> last_;
    kernel::FloatPlane finest_; ///< level 0 of frames that are kept without it
    RigidRegistration registration_;
};

} // namespace sextant::registration
