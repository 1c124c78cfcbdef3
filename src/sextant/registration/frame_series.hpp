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
    /// On one thread a rank: ranks are what works side by side.
    prefix::ScanOptions scan;
    double prefilter = usual_prefilter;
    LookLimits limits;
    /// A frame is registered to so many before it, each from nothing: what they say must agree.
    int farthest = 3;
    double tolerance = 1.5;                ///< pixels RMS, of registrations that agree
    std::optional<std::int64_t> reference; ///< none: the first frame that is not left out
    int threads = 1; ///< of each rank, which share the rows of one registration
    double offset =
        0; ///< was taken off all samples (core/frame_source.hpp); frames are judged with it
};

/// What a run tells and is told; a rank's own.
struct SeriesHooks {
    Ledger* ledger = nullptr;
    /// Registrations that this rank has done and is to do, of a part of the work.
    std::function<void(std::string_view part, std::int64_t done, std::int64_t all)> progress =
        [](std::string_view, std::int64_t, std::int64_t) {};
};

/// How well a field shows a frame as the reference (nonrigid.hpp).
struct FieldFit {
    double known = 0;   ///< share of the nodes that the frames say something of
    double sigma = 0;   ///< RMS deviation of those, pixels
    double freedom = 0; ///< SplineFitReport::freedom
};

/// Where a frame of a series lies.
struct FramePlace {
    std::int64_t frame = 0;
    std::string left_out; ///< why it is not registered; empty where it is
    /// What registers it to the reference; of that one the identity. Ambiguous if any neighbours
    /// between were. Unrelated to the reference, as when it shows none of it any more, it lies
    /// where those between say.
    RigidResult result;
    std::optional<FieldFit> field;

    bool mended = false;   ///< registered otherwise than to the frame before it from nothing
    bool in_doubt = false; ///< registrations to frames around it do not agree
    std::int64_t gaps = 0; ///< samples that are not finite
    Seconds seconds = 0;   ///< of all registrations of this frame to another
    /// What registers it to the frame placed before it, where that is asked for.
    RigidMotion from_before = {};
};

/// All frames of a series, looked at.
struct SeriesLook {
    std::vector<FrameLook> frames; ///< of all ranks
    std::vector<std::int64_t> fit; ///< that are not left out, in order
    std::vector<FramePlace> mine;  ///< this rank's, those left out with the reason
};

/// Looks at every frame of a series once, and finds those that cannot be registered: not to be
/// read, constant, much darker than others, saturated, with too many samples that are not finite.
///
/// Input     each rank has a source of its own, of the same frames.
/// Requires  a frame or more, of at least 16x16 pixels (InvalidTask).
/// Throws    AgreedFailure on every rank when anything goes wrong on any.
/// Collective.
SeriesLook look_at_series(const Communicator& communicator, FrameSource& source,
                          const SeriesOptions& options = {}, const SeriesHooks& hooks = {});

/// Registers every frame of a series to its first, or to another one: each to some before it, on
/// its own; then φ_{i,j} ⊙ φ_{j,k} = A(f_i, f_k, φ_{j,k}∘φ_{i,j}), the registration A of frames i
/// and k from what the two motions say, in a scan over the ranks. So the error of a frame does not
/// grow with how many lie before it, as that of composed motions does.
///
/// Frames that cannot be registered are left out, and the frames beside them are neighbours. Where
/// the registration of neighbours disagrees with what frames around them say (consensus.hpp), as
/// after a hop by a period of a lattice, it is done again from there.
///
/// Input     the series, as looked at.
/// Output    the places of this rank's frames, which are as many as the others' or one more, in
///           rank order.
/// Requires  one thread a rank, a reference that is not left out (InvalidTask).
/// Throws    AgreedFailure on every rank when anything goes wrong on any.
/// Cost      each frame is read twice, and twice for each application of the scan; a frame and a
///           pyramid more than `farthest` in memory, whatever the length of the series, and a few
///           numbers a frame.
/// Collective.
/// Deterministic  unless folded by arrival, for the same number of ranks and any number of threads;
///           ranks bracket ⊙ differently, which changes motions by less than their noise.
std::vector<FramePlace> register_series(const Communicator& communicator, FrameSource& source,
                                        SeriesLook look, const SeriesOptions& options = {},
                                        const SeriesHooks& hooks = {});

/// The same up to the scan: frames are registered to neighbours and voted on. What a frame's result
/// and `from_before` say is how it lies to the one placed before it. For scans of other motions
/// (field_series.hpp); a reference is not looked at.
std::vector<FramePlace> register_neighbours(const Communicator& communicator, FrameSource& source,
                                            SeriesLook look, const SeriesOptions& options = {},
                                            const SeriesHooks& hooks = {});

/// Looks at a series and registers it.
std::vector<FramePlace> register_series(const Communicator& communicator, FrameSource& source,
                                        const SeriesOptions& options = {});

} // namespace sextant::registration
