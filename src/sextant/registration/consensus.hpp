// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/motion.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace sextant::registration {

/// One pairwise registration. Frames are numbered by their position in the series.
struct LinkSeen {
    std::size_t reference = 0, moved = 0;
    RigidMotion motion;  ///< φ with T∘φ ≈ R, where T is `moved`
    bool trusted = true; ///< if false, the registration is ignored
};

/// The position of a frame according to all registrations to nearby frames.
struct FrameVote {
    std::optional<RigidMotion> place; ///< motion from the first placed frame to this one
    /// number of trusted links to placed frames, and of those that agree with `place`
    int links = 0, agreeing = 0;
    /// True if at most half of the links agree with the position.
    bool in_doubt() const { return links > 0 && 2 * agreeing <= links; }
};

/// Places the frames of a series so that as many registrations as possible agree to within
/// `tolerance` pixels RMS. Each frame has been registered to several previous frames. On a lattice,
/// one of these registrations may be off by a period; the others then outvote it.
///
/// Frames are placed one after another, each at the position on which most of its registrations to
/// earlier frames agree; a tie is decided by the nearest frame. Then all links of each frame,
/// including those to later frames, vote again until no frame moves. Only nearby frames are
/// compared, because errors add up along a chain.
///
/// Input     links among `frames` frames of this shape, each with reference < moved.
/// Output    one vote per frame; no position for frames that trusted links do not connect to the
///           largest group of connected frames.
/// Cost      O(links) per round, at most ten rounds.
/// Deterministic
std::vector<FrameVote> consensus(std::size_t frames, std::span<const LinkSeen> links,
                                 ImageShape shape, double tolerance = 1.5);

} // namespace sextant::registration
