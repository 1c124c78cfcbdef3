// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/pair/motion.hpp"

#include <cstddef>
#include <cstdint>
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
    bool inverted = false; ///< the frames have opposite contrast (FrameContrast)
};

/// The position of a frame according to all registrations to nearby frames.
struct FrameVote {
    std::optional<RigidMotion> position; ///< motion from the first placed frame to this one
    /// number of trusted links to placed frames, and of those that agree with `position`
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
/// frame, including those to later frames, vote again, and all links across each boundary between
/// frames vote on the motion between the two groups, until no frame moves.
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

/// The level and the contrast of a frame. A sample T of the frame is brought to the level 0 and the
/// contrast of the typical frame by (T − level) / signal.
struct FrameContrast {
    double level = 0;  ///< mean of the samples
    double signal = 1; ///< amplitude of the specimen's signal, relative to the typical frame;
                       ///< negative if the frame has the opposite contrast
    double noise = 1;  ///< standard deviation of the noise, in units of the typical frame's signal

    /// The weight of the frame in an average of least noise: signal² / noise².
    double weight() const { return signal * signal / (noise * noise); }
    bool inverted() const { return signal < 0; }
};

/// The normalised cross-correlation (NCC) of two registered frames, over their overlap.
struct ContrastLink {
    std::size_t reference = 0, moved = 0;
    double ncc = 0;
};

/// Separates the signal of each frame of a series from its noise. The covariance of two registered
/// frames is the product of their signals, because their noise is independent. So with the
/// standard deviations σ of the frames, s_i s_j = NCC_ij σ_i σ_j for every link; the logarithms of
/// s are solved for by least squares. A weak term keeps the signals of the two frames of a link
/// alike; it decides only what the links leave open, such as the ratio of the signals of a pair. A
/// frame without links has the signal of the typical frame.
///
/// Input     the frames' standard deviations after the filter that was used for the links; links
///           with an NCC that is not positive are ignored.
/// Output    one contrast per frame, with a level of 0 and a positive signal. The noise is at least
/// a twentieth of the
///           frame's standard deviation, so that weights are finite.
/// Cost      O(frames · reach²), where reach is the largest distance between linked frames.
/// Deterministic
std::vector<FrameContrast> contrasts_of(std::span<const double> deviations,
                                        std::span<const ContrastLink> links);

/// Decides which frames have the opposite contrast of the first one: those for which the
/// registrations that say so outweigh the others. Registrations count by their leads; those that
/// are not trusted are ignored.
///
/// Input     links among `frames` frames, each with reference < moved.
/// Output    one value per frame: 1 if its contrast is inverted.
/// Cost      O(links · reach) per round, at most ten rounds; reach is the largest distance between
///           linked frames.
/// Deterministic
std::vector<std::uint8_t> inverted_frames(std::size_t frames, std::span<const LinkSeen> links);

} // namespace sextant::registration
