// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/registration/series/ledger.hpp"
#include "sextant/registration/series/records.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

namespace registration {
struct SeriesState;
}

/// The registered frames of a series, read one at a time while results are written.
class RegisteredFrames {
  public:
    /// Returns the numbers of the frames that are not left out, in order.
    std::span<const std::int64_t> numbers() const { return numbers_; }
    /// Returns the motion of a frame. Fields are read from the checkpoint.
    registration::Transform transform(std::int64_t frame);
    /// The area of aligned frames, in the coordinates of the reference.
    const registration::PixelArea& area() const { return area_; }
    /// Returns a frame in the coordinates of the reference; NaN outside its data. Valid until the
    /// next call. Throws as FrameSource.
    std::span<const float> aligned(std::int64_t frame);
    /// The same, but passes on some rows at a time, from the first to the last, which takes less
    /// memory.
    void aligned(std::int64_t frame, const registration::ResampledRows& take);

  private:
    friend class SeriesRegistration;
    RegisteredFrames(FrameSource& source, std::span<const std::int64_t> numbers,
                     registration::TransformOf transform_of, const registration::PixelArea& area,
                     int threads, const RunControl& control);

    std::span<const std::int64_t> numbers_;
    registration::TransformOf transform_of_;
    Team team_;
    registration::Resampler resampler_;
    registration::PixelArea area_;
    std::vector<float> pixels_;
    const RunControl& control_;
    std::int64_t done_ = 0;
};

/// Callbacks of SeriesRegistration::run. All may be empty.
struct RegistrationHooks {
    /// Called on rank 0 with the result, to write it together with large data. The checkpoint is
    /// removed only afterwards: if this throws, the run fails on every rank and can be resumed.
    std::function<void(const RegistrationResult& result, RegisteredFrames& frames)> write = {};
    /// Called on rank 0 if results of an earlier run are reused, with their number.
    std::function<void(std::size_t results)> resumed = {};
    /// Called on rank 0, before the run fails because fewer than two frames could be registered,
    /// with the frames and why they are left out.
    std::function<void(std::span<const FrameRegistration> frames)> failed = {};
    /// Called on each rank after each computed result.
    registration::Ledger::Worked worked = {};
};

/// Registers the frames of a noisy series to one another, and averages them.
///
/// Frames that cannot be registered are left out. Each other frame is registered to several
/// previous ones, and these registrations vote on its position. A scan over the ranks combines the
/// motions of neighbours by φ_{i,j} ⊙ φ_{j,k} = A(f_i, f_k, φ_{j,k}∘φ_{i,j}), where A is the
/// registration of frames i and k that starts at the composed motion; errors therefore do not grow
/// along the series. Frames that drift out of the view of the reference are registered by way of
/// others (stations.hpp). Each further stage registers each frame to the average of the others, at
/// the motions of the previous stage; frames in doubt do not contribute to it, and are searched for
/// over the whole range of motions. For two frames the average of the others would be the other
/// frame, so there is only one stage. If frames still move by more than their deviations, up to
/// three more stages follow.
/// Families of motions other than the rigid ones are fitted in a last stage, in the same way.
///
/// Each rank reads its block of the frames and, for averages, its block of rows of all frames. Rank
/// 0 creates and removes the checkpoint and calls RegistrationHooks::write.
///
/// Input     each rank has its own source of the same frames: at least two that can be registered,
///           of 16x16 pixels or more.
/// Output    motions, mean, median and count on every rank; aligned frames and displacement fields
///           one at a time on rank 0.
/// Throws    AgreedFailure on every rank if any rank fails; with invalid_task() if an option is
///           invalid, or the checkpoint is that of another run. Cancelled on every rank if any was
///           cancelled: ranks check between registrations, also in the scan. The checkpoint
///           is then kept, and the next run resumes it.
/// Collective.
/// Cost      about `farthest` + 2 + `stages` registrations per frame. Memory per rank: twelve
///           frames and `memory`; if threads take whole frames, about ten more frames per thread
///           (registration::memory_of_frame_thread()); without a checkpoint also .2 bytes per pixel
///           of every frame with a displacement field.
/// Deterministic  if `reproducible`, on the same number of ranks, for any number of threads and any
///           ThreadWork.
///           Otherwise motions differ by much less than their noise.
class SeriesRegistration {
  public:
    explicit SeriesRegistration(Communicator communicator, RegistrationOptions options = {},
                                RunControl control = {});

    /// Ends the use of this object on all ranks: ranks that wait for this one in run(), or call it
    /// later, throw PeerFailed with this rank and `text`. An exception that destroys the object
    /// after its first run has the same effect. Not collective.
    void fail(const std::string& text) const;

    RegistrationResult run(std::unique_ptr<FrameSource> source,
                           const RegistrationHooks& hooks = {}) const;

  private:
    static void write(registration::SeriesState& state, const RegistrationHooks& hooks);

    Communicator communicator_;
    RegistrationOptions options_;
    RunControl control_;
};

/// Returns a sentence that states the disk space in the checkpoint and the memory that the
/// displacement fields of a series take at most.
std::string describe_field_storage(const FrameHeader& series, int stages);

} // namespace sextant
