// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/motion.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace sextant::registration {

/// What one registration says of two frames, counted along the series.
struct LinkSeen {
    std::size_t reference = 0, moved = 0;
    RigidMotion motion;  ///< T∘φ ≈ R
    bool trusted = true; ///< false: nothing follows from it
};

/// Where a frame lies by what the registrations to frames around it say together.
struct FrameVote {
    std::optional<RigidMotion> place; ///< what registers it to the first frame placed
    int links = 0, agreeing = 0; ///< trusted registrations to frames placed, and those that agree
    /// Whether it is not where most of them say.
    bool in_doubt() const { return links > 0 && 2 * agreeing <= links; }
};

/// Places frames of a series so that as many registrations as can be agree, to within `tolerance`
/// pixels RMS: that of a frame to the one before it, to the one before that, and so on. On a
/// lattice one of them may be off by a period; the others then outvote it.
///
/// Frames are placed one after another, each where most of the registrations to those before it
/// say, of equally many where the nearest does; then again with the frames behind them, until
/// nothing moves. Since errors add up along a chain, only places near to one another are compared.
///
/// Input     links of `frames` frames of that shape, reference before moved.
/// Output    a vote a frame; without a place where no trusted links lead to most of the others.
/// Cost      O(links), times the number of rounds (at most ten).
/// Deterministic
std::vector<FrameVote> consensus(std::size_t frames, std::span<const LinkSeen> links,
                                 ImageShape shape, double tolerance = 1.5);

} // namespace sextant::registration
