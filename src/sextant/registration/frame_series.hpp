// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/frame_source.hpp"
#include "sextant/prefix/scan.hpp"
#include "sextant/registration/ledger.hpp"
#include "sextant/registration/pair_reader.hpp"
#include "sextant/registration/rigid.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::registration {

struct SeriesOptions {
    RigidOptions rigid;
    /// One thread per rank: the ranks are the parallelism.
    prefix::ScanOptions scan;
    double prefilter = usual_prefilter;
    LookLimits limits;
    /// Each frame is registered, without a start, to this many frames before it; these vote.
    int farthest = 3;
    double tolerance = 1.5;                ///< pixels RMS, within which registrations agree
    std::optional<std::int64_t> reference; ///< default: the first frame that is not left out
    int threads = 1;                       ///< per rank; they share the rows of one registration
    double offset = 0; ///< that the source subtracted from all samples (core/frame_source.hpp);
                       ///< added back to judge frames
};

/// A rank's callbacks and storage for a run.
struct SeriesHooks {
    Ledger* ledger = nullptr;
    /// Reports how many registrations of a part of the work this rank has done.
    std::function<void(std::string_view part, std::int64_t done, std::int64_t all)> progress =
        [](std::string_view, std::int64_t, std::int64_t) {};
};

/// The quality of a field between a frame and the reference (nonrigid.hpp).
struct FieldFit {
    double known = 0;   ///< fraction of the nodes at which the frames determine the field
    double sigma = 0;   ///< RMS standard deviation at those nodes, pixels
    double freedom = 0; ///< SplineFitReport::freedom
};

/// The position of a frame of a series.
struct FramePlace {
    std::int64_t frame = 0;
    std::string left_out; ///< why the frame is not registered; empty if it is
    /// The motion to the reference; the identity for the reference itself. Ambiguous if the
    /// registration of any neighbours in between was. If unrelated to the reference, for example
    /// because none of it is in view any more, the motion is that of the frames in between.
    RigidResult result;
    std::optional<FieldFit> field;

    bool mended = false;   ///< not registered directly to the frame before it without a start
    bool in_doubt = false; ///< registrations to frames around it disagree
    std::int64_t gaps = 0; ///< number of samples that are not finite
    Seconds seconds = 0;   ///< spent on all registrations of this frame
    /// The motion to the frame placed before it, from before the scan.
    RigidMotion from_before = {};
};

/// A first pass over all frames of a series.
struct SeriesLook {
    std::vector<FrameLook> frames; ///< all frames, on every rank
    std::vector<std::int64_t> fit; ///< frames that are not left out, in order
    std::vector<FramePlace> mine;  ///< this rank's frames; those left out have a reason
};

/// Reads every frame of a series once and finds those that cannot be registered: unreadable,
/// constant, much darker than the others, saturated, or with too many samples that are not finite.
///
/// Input     each rank has its own source of the same frames.
/// Requires  at least one frame, of at least 16x16 pixels (InvalidTask).
/// Throws    AgreedFailure on every rank if any rank fails.
/// Collective.
SeriesLook look_at_series(const Communicator& communicator, FrameSource& source,
                          const SeriesOptions& options = {}, const SeriesHooks& hooks = {});

/// Registers every frame of a series to its first or another one. Each frame is first registered to
/// several before it. A scan over the ranks then combines these motions by
/// φ_{i,j} ⊙ φ_{j,k} = A(f_i, f_k, φ_{j,k}∘φ_{i,j}), the registration A of frames i and k that
/// starts at the composed motion. So, unlike that of composed motions, the error does not grow
/// along the series.
///
/// Frames that cannot be registered are left out; the frames on either side become neighbours. If
/// the registration of two neighbours disagrees with the frames around them (consensus.hpp), as
/// after a jump by a lattice period, it is repeated from the motion that these imply.
///
/// Input     the series and its look_at_series().
/// Output    the positions of this rank's frames. Frames are divided among the ranks in order, in
///           blocks whose sizes differ by at most one.
/// Requires  one thread per rank for the scan, a reference that is not left out (InvalidTask).
/// Throws    AgreedFailure on every rank if any rank fails.
/// Cost      reads each frame twice, and two frames for each application of the scan. Memory: one
///           frame, `farthest` + 1 pyramids for any length of series, a few numbers per frame.
/// Collective.
/// Deterministic  for the same number of ranks and any number of threads, unless folded by arrival.
///           Ranks bracket ⊙ differently, which changes motions by less than their noise.
std::vector<FramePlace> register_series(const Communicator& communicator, FrameSource& source,
                                        SeriesLook look, const SeriesOptions& options = {},
                                        const SeriesHooks& hooks = {});

/// Does the same up to the scan: registers frames to neighbours and votes. The result and
/// `from_before` of a frame are then its motion to the one placed before it. For scans of other
/// motions (field_series.hpp); `options.reference` is ignored.
std::vector<FramePlace> register_neighbours(const Communicator& communicator, FrameSource& source,
                                            SeriesLook look, const SeriesOptions& options = {},
                                            const SeriesHooks& hooks = {});

/// Runs look_at_series() and register_series().
std::vector<FramePlace> register_series(const Communicator& communicator, FrameSource& source,
                                        const SeriesOptions& options = {});

} // namespace sextant::registration
