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

/// Reads the registered frames of a series one at a time while results are written.
class RegisteredFrames {
  public:
    /// Returns the numbers of the frames that are not left out, in order.
    std::span<const std::int64_t> numbers() const { return numbers_; }
    /// Returns the transform of a frame. Displacement fields are read from the checkpoint.
    registration::Transform transform(std::int64_t frame);
    /// The area of the aligned frames, in the coordinates of the reference.
    const registration::PixelArea& area() const { return area_; }
    /// Returns a frame in the coordinates of the reference; NaN outside its data. Valid until the
    /// next call. Throws the same exceptions as FrameSource.
    std::span<const float> aligned(std::int64_t frame);
    /// The same, but passes the frame to `take` in blocks of rows, from top to bottom. This needs
    /// less memory.
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
    /// Called on rank 0 to write the result, the aligned frames and the displacement fields. The
    /// checkpoint is removed only afterwards: if this throws, the run fails on every rank and can
    /// be resumed.
    std::function<void(const RegistrationResult& result, RegisteredFrames& frames)> write = {};
    /// Called on rank 0 with the number of reused results, if results of an earlier run are reused.
    std::function<void(std::size_t results)> resumed = {};
    /// Called on rank 0 before the run fails because too few frames could be registered.
    /// Each frame contains the reason why it was left out.
    std::function<void(std::span<const FrameRegistration> frames)> failed = {};
    /// Called on each rank after each computed result.
    registration::Ledger::Worked worked = {};
};

/// Registers the frames of a noisy series to one another, and averages them.
///
/// Frames that cannot be registered are left out. Each other frame is registered to several
/// previous frames, and these registrations vote on its position. A scan over the ranks composes
/// the motions of neighbours by φ_{i,j} ⊙ φ_{j,k} = A(f_i, f_k, φ_{j,k}∘φ_{i,j}), where A is the
/// registration of frames i and k that starts at the composed motion; errors therefore do not grow
/// along the series. Frames that do not overlap the reference enough are registered to intermediate
/// frames (stations.hpp). Each further stage registers each frame to the average of the others,
/// which is computed with the motions of the previous stage; doubtful frames do not contribute to
/// the average, and their motions are searched for over the whole range. With two frames, the
/// average of the others is just the other frame, so there is only one stage. If frames still move
/// by more than their deviations, or frames with a static pattern are rotated, up to three more
/// stages follow. Motion families other than rigid motions are fitted in a last stage, in the same
/// way.
///
/// Each rank reads its block of frames and, for averages, its block of rows of all frames. Rank 0
/// creates and removes the checkpoint and calls RegistrationHooks::write.
///
/// If fewer than half of the usable frames can be registered to one another, or, for noisy or small
/// frames, more than a tenth are in doubt, frames carry too little signal. Sums of neighbouring
/// frames are then registered (sums.hpp), and stages register each frame to the average of the
/// others, with motions smoothed over the series (stages/weak_frames.hpp).
///
/// Input     on each rank, its own source of the same frames. The frames have 16x16 pixels or more,
///           and at least two, and options.min_registered of the usable ones, can be registered.
/// Output    motions, mean, median and count on every rank; aligned frames and displacement fields
///           one at a time on rank 0.
/// Throws    AgreedFailure on every rank if any rank fails; invalid_task() is true if an option is
///           invalid or the checkpoint belongs to a different run. Cancelled on every rank if any
///           rank was cancelled; ranks check between registrations, also in the scan. The
///           checkpoint is then kept, and the next run resumes it.
/// Collective.
/// Cost      about `farthest` + 2 + `stages` registrations per frame. Memory per rank: twelve
///           frames and `memory`; if each thread processes whole frames, about ten more frames per
///           thread (registration::memory_of_frame_thread()); without a checkpoint also .2 bytes
///           per pixel of every frame with a displacement field.
/// Deterministic  if `reproducible`, on the same number of ranks, for any number of threads and any
///           ThreadWork.
///           Otherwise motions differ by much less than their noise.
class SeriesRegistration {
  public:
    explicit SeriesRegistration(Communicator communicator, RegistrationOptions options = {},
                                RunControl control = {});

    /// Ends the use of this object on all ranks: ranks that are in run(), or call run() later,
    /// throw PeerFailed with this rank and `text`. An exception that destroys the object after its
    /// first run has the same effect. Not collective.
    void fail(const std::string& text) const;

    RegistrationResult run(std::unique_ptr<FrameSource> source,
                           const RegistrationHooks& hooks = {}) const;

  private:
    static void write(registration::SeriesState& state, const RegistrationHooks& hooks);

    Communicator communicator_;
    RegistrationOptions options_;
    RunControl control_;
};

/// Returns a sentence that states how much disk space (in the checkpoint) and memory the
/// displacement fields of a series take at most.
std::string describe_field_storage(const FrameHeader& series, int stages);

} // namespace sextant
