// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/registration/correct/corrected_frames.hpp"
#include "sextant/registration/correct/matched_pixels.hpp"
#include "sextant/registration/series/division.hpp"
#include "sextant/registration/series/ledger.hpp"
#include "sextant/registration/series/pair_reader.hpp"
#include "sextant/registration/series/records.hpp"
#include "sextant/registration/series/stations.hpp"
#include "sextant/registration/transform/combined.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::registration {

/// Marks frames as left out if they are unrelated to their reference.
void leave_out_unrelated(std::span<FrameRegistration> frames);

/// True if the motion of a frame is in doubt: registrations to nearby frames disagree or are
/// ambiguous, the motion is implausible, or the NCC with the reference is no higher than that of
/// noise.
bool in_doubt(const FrameRegistration& frame);

/// All-gathers the frames, without their row motions. Collective.
std::vector<FrameRegistration> gather_frames(const Communicator& communicator,
                                             std::span<const FrameRegistration> own);

/// The registered frames of all ranks (frames that are not left out), on every rank.
struct Registered {
    std::vector<std::int64_t> frames;
    std::vector<RigidMotion> motions;
    std::vector<FrameContrast> contrasts;
    /// 1 for frames that contribute to averages for matching: frames whose motion is not in doubt,
    /// or all frames if fewer than two such frames are left.
    std::vector<std::uint8_t> contributes;
    bool all_in_doubt = false; ///< true if fewer than two frames were not in doubt

    /// Returns the index of a frame by its number.
    std::size_t index(std::int64_t frame) const;
    const RigidMotion& motion(std::int64_t frame) const { return motions[index(frame)]; }
    /// Returns the frames that contribute, in order.
    std::vector<std::int64_t> contributing() const;

    std::vector<AffineMotion> affine = {}; ///< affine motions of the frames; empty if all are rigid
    /// Row motions of the frames; empty if rows are not registered.
    std::vector<std::shared_ptr<const RowMotion>> rows = {};
};

/// All-gathers the registered frames. Collective.
Registered gather_registered(const Communicator& communicator,
                             std::span<const FrameRegistration> own);

/// Returns a function that maps a frame to its transform. `registered` must outlive the result.
TransformOf transforms(const Registered& registered);

/// Returns the options of the scan of motions.
prefix::ScanOptions scan_options(const RegistrationOptions& options);

/// Returns the finest level on which pairs of frames are compared (RigidRegistration): level 1
/// if the frames are registered to averages later, and are large enough; otherwise 0.
int finest_of_links(const RegistrationOptions& options, ImageShape shape);

/// Returns an empty cache for the frames of a series. It keeps the levels that links need, and the
/// one from which layers are computed (pattern_view()).
std::shared_ptr<FrameCache> cache_of(const FrameHeader& series, const RegistrationOptions& options,
                                     const ThreadPlan& threads);

/// The inputs for registering a series on one rank.
struct SeriesContext {
    const Communicator& communicator;
    FrameSource& source;
    const RegistrationOptions& options;
    Ledger* ledger = nullptr;
    RunControl control = {};
    double offset = 0; ///< offset that the source subtracts from samples; added back for inspection
    /// Points to `source` if it corrects samples; otherwise null.
    CorrectedFrames* corrections = nullptr;
    ThreadPlan threads = {}; ///< use of a rank's threads
    /// If not null, receives statistics of threads that take whole frames.
    FrameThreadUse* used = nullptr;
    /// Frames of `source`.
    std::shared_ptr<FrameCache> cache = cache_of(source.header(), options, threads);

    /// Reports progress on rank 0. Throws Cancelled if this rank was cancelled.
    void step(std::string_view part, std::int64_t done, std::int64_t all) const {
        if (communicator.rank() == 0)
            control.report(part, done, all);
        control.check();
    }
};

/// Returns the context with a different source of the same frames.
inline SeriesContext with_source(const SeriesContext& context, FrameSource& source) {
    return {context.communicator, source,  context.options, context.ledger, context.control,
            context.offset,       nullptr, context.threads, context.used};
}

/// The result of a first pass over all frames of a series.
struct SeriesInspection {
    std::vector<FrameStatistics> statistics = {}; ///< statistics of all frames, on every rank
    std::vector<std::int64_t> usable = {};        ///< frames that are not left out, in order
    /// This rank's frames, including those left out, with the reason.
    std::vector<FrameRegistration> frames = {};
    /// RowShiftMeter::sums() of some of this rank's frames, one after another.
    std::vector<double> rows = {};
    std::shared_ptr<Team> team = {}; ///< the threads of this rank
    /// The numbers of this rank's frames from which layers are computed (frames_for_layers()), and
    /// the parts of these frames, one after another.
    std::vector<std::int64_t> viewed_frames = {};
    std::vector<float> views = {};
};

/// The state of registering a series on one rank. The steps of SeriesRegistration modify it one
/// after another; each step uses the results of the previous steps.
struct SeriesState {
    const Communicator& communicator;
    const RegistrationOptions& options;
    const RunControl& control;
    /// Called on rank 0 with all frames if too few frames can be registered. May be empty.
    std::function<void(std::span<const FrameRegistration> frames)> failed;

    bool is_first() const { return communicator.rank() == 0; }
    bool has_checkpoint() const { return !options.checkpoint.empty(); }
    bool nonrigid() const { return options.model == MotionModel::nonrigid; }

    std::unique_ptr<FrameSource> source;
    /// If `source` aligns the rows of a bidirectional scan, the source that it reads.
    std::unique_ptr<FrameSource> unaligned = {};
    Sample sample = Sample::f32; ///< type of the recorded samples
    /// Points to `source` or `unaligned` if it corrects samples; otherwise null.
    CorrectedFrames* corrections = nullptr;
    std::uint64_t detector = 0;                       ///< hash of the detector images
    std::optional<MatchedPixels> matched = {};        ///< set if not all pixels are compared
    std::unique_ptr<FrameSource> matched_frames = {}; ///< `source` with only these pixels
    /// `source` or `matched_frames` without shading, if needed.
    std::unique_ptr<ChangedFrames> flattened = {};
    /// If there is a static pattern: the compared frames without it, and, if whole frames are
    /// compared, `source` without it, for results.
    std::unique_ptr<ChangedFrames> without_static = {}, shown_without_static = {};
    /// The frames that are compared, with frames of opposite contrast inverted.
    std::unique_ptr<FrameSource> inverted = {};
    /// The frames of results with the columns that the flyback disturbs as gaps, if any.
    std::unique_ptr<ChangedFrames> without_flyback = {};
    /// Returns the source of the frames that results are computed from.
    FrameSource& shown_frames() const {
        if (without_flyback)
            return *without_flyback;
        return shown_without_static ? *shown_without_static : *source;
    }

    SeriesInspection inspection = {}; ///< valid until frames are registered
    std::int64_t usable = 0;          ///< number of frames that the inspection did not leave out
    std::string content = {}; ///< fingerprint of the frames, before their shading is removed
    std::unique_ptr<Ledger> ledger = {};
    bool has_ledger = false; ///< true if all ranks have a ledger
    std::optional<SeriesContext> context = {};

    std::vector<FrameRegistration> own = {}; ///< this rank's frames
    Registered registered = {};
    /// For each of this rank's frames, the correction of its station in the last stage; empty
    /// without stations.
    std::vector<UncertainMotion> of_station = {};
    bool fails_again = false; ///< true if the run would fail again with these frames
    bool frames_move = false; ///< true if the last stage moved frames by more than their deviations
    std::vector<std::int64_t> averaged = {}; ///< frames of the average and the median
    RegistrationResult result = {};
};

} // namespace sextant::registration
