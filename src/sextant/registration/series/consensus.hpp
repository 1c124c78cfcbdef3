// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/pair/motion.hpp"

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace sextant::registration {

/// A registration counts by its lead (lead.hpp), but by no more than this.
inline constexpr double most_lead = 10;

/// One pairwise registration. Frames are numbered by their position in the series.
struct LinkSeen {
    std::size_t reference = 0, moved = 0;
    RigidMotion motion;  ///< φ with T∘φ ≈ R, where T is `moved`
    bool trusted = true; ///< if false, the registration is ignored
    double lead = most_lead;
    bool inverted = false; ///< the frames have opposite contrast (contrast.hpp)
};

/// The position of a frame according to all registrations to nearby frames.
struct FrameVote {
    std::optional<RigidMotion> place; ///< motion from the first placed frame to this one
    /// number of trusted links to placed frames, and of those that agree with `place`
    int links = 0, agreeing = 0;
    /// The lead of the position over the best other one, as a normal deviate, according to all
    /// links of this frame except those to bad frames.
    double lead = 0;
    /// True if the lead is large enough for other frames to be registered by way of this one. If
    /// that is so for less than half of the frames, it is true for all that have a position.
    bool sound = false;
    /// True if links disagree about the position and its lead is small.
    bool in_doubt = false;
    /// The lead of the motion from the sound frames before this one to this one and those after it,
    /// according to all links that connect the two groups. Infinite for the first sound frame and
    /// for frames that are not sound, which connect nothing.
    double lead_across = std::numeric_limits<double>::infinity();
};

/// Places the frames of a series so that the registrations that agree, to within `tolerance` pixels
/// RMS, have the largest sum of leads. Each frame has been registered to several previous frames.
/// On a lattice, one of these registrations may be off by a period; the others then outvote it.
///
/// Frames are placed one after another, each at the position with the largest sum of leads of its
/// registrations to earlier frames; a tie is decided by the nearest frame. Then all links of each
/// frame, including those to later frames, vote again, and all links between the frames before and
/// after each place in the series vote on the motion between the two groups, until no frame moves.
/// Only nearby frames are compared, because errors add up along a chain.
///
/// The errors of links that share a frame or its neighbours are correlated. The lead of a position
/// is the difference of the sums of leads for and against it, divided by the standard deviation of
/// such a sum.
///
/// Input     links among `frames` frames of this shape, each with reference < moved; inverted ones
///           are ignored. The least lead of a sound frame.
/// Output    one vote per frame; no position for frames that trusted links do not connect to the
///           largest group of connected frames.
/// Cost      O(links) per round, at most ten rounds.
/// Deterministic
std::vector<FrameVote> consensus(std::size_t frames, std::span<const LinkSeen> links,
                                 ImageShape shape, double tolerance = 1.5,
                                 double least_lead = 1.75);

} // namespace sextant::registration
