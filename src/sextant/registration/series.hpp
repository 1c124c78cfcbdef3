// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/frame_source.hpp"
#include "sextant/prefix/options.hpp"
#include "sextant/registration/rigid.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sextant::registration {

struct SeriesOptions {
    RigidOptions rigid;
    /// On one thread a rank: ranks are what works side by side. Where its shares go by time across
    /// ranks, what is expected of a frame is how long registering it to its neighbour took.
    prefix::ScanOptions scan;
    double prefilter = usual_prefilter;
    /// A frame darker than this share of the median is no picture: the beam was off.
    double least_brightness = .25;
};

/// Where a frame of a series lies.
struct FramePlace {
    std::int64_t frame = 0;
    std::string left_out; ///< why it is not registered; empty where it is
    /// What registers it to the first frame that was not left out; of that one the identity. Its
    /// doubt is that of any neighbours between: ambiguous if one was, unrelated if one was.
    RigidResult result;
};

/// Registers every frame of a series to its first: neighbours, each on its own; then
/// φ_{i,j} ⊙ φ_{j,k} = A(f_i, f_k, φ_{j,k}∘φ_{i,j}), the registration A of frames i and k from what
/// the two motions say, in a scan over the ranks. So the error of a frame does not grow with how
/// many lie before it, as that of composed motions does.
///
/// Frames that cannot be registered are left out, and the frames beside them are neighbours.
///
/// Input     the series: each rank has a source of its own, of the same frames.
/// Output    the places of this rank's frames, which are as many as the others' or one more, in
///           rank order.
/// Requires  a frame or more, of at least 16x16 pixels, one thread a rank (InvalidTask).
/// Throws    AgreedFailure on every rank when anything goes wrong on any.
/// Cost      each frame is read twice, and twice for each application of the scan; one frame and
///           two pyramids in memory, whatever the length of the series, and a number a frame.
/// Collective.
/// Deterministic  unless folded by arrival or with shares by time, for the same number of ranks;
///           ranks bracket ⊙ differently, which changes motions by less than their noise.
std::vector<FramePlace> register_series(const Communicator& communicator, FrameSource& source,
                                        const SeriesOptions& options = {});

} // namespace sextant::registration
