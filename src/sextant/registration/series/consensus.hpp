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

/// Upper limit of a registration's weight in a vote. The weight is the lead (lead.hpp).
inline constexpr double most_lead = 10;

/// One pairwise registration. Frames are numbered by their position in the series.
struct LinkSeen {
    std::size_t reference = 0, moved = 0;
    RigidMotion motion;  ///< φ with T∘φ ≈ R, where T is `moved`
    bool trusted = true; ///< false: the registration is ignored
    double lead = most_lead;
    bool inverted = false; ///< true if the frames have opposite contrast (FrameContrast)
};

/// The result of the vote on a frame's position by all its registrations to nearby frames.
struct FrameVote {
    std::optional<RigidMotion> position; ///< motion from the first placed frame to this one
    /// Number of trusted links to placed frames, and number of these that agree with `position`.
    int links = 0, agreeing = 0;
    /// The lead of the position over the best different position, as a normal deviate. Counts all
    /// links of this frame except links to bad frames.
    double lead = 0;
    /// True if the lead is large enough for this frame to link other frames. If fewer than half of
    /// the frames have such a lead, all frames with a position are sound.
    bool sound = false;
    /// True if links disagree about the position and its lead is small.
    bool in_doubt = false;
    /// The lead of the motion between the sound frames before this frame and the sound frames from
    /// this frame on, according to all links between the two groups. Infinite for the first sound
    /// frame and for frames that are not sound, because no motion depends on these.
    double lead_across = std::numeric_limits<double>::infinity();
};

/// Finds the positions of a series' frames by vote. Each frame has been registered to several
/// previous frames. The chosen positions maximise the sum of leads of the registrations that agree
/// with them to within `tolerance` pixels (RMS). On a lattice, a registration may be off by a
/// period; the other registrations then outvote it.
///
/// Frames are placed one after another, each at the position with the largest sum of leads of its
/// registrations to earlier frames; in a tie, the nearest frame decides. Then all links of each
/// frame, including links to later frames, vote again. All links across each boundary between
/// frames also vote on the motion between the two groups. This is repeated until no frame moves.
/// Only nearby frames are compared, because errors add up along a chain.
///
/// The errors of links that share a frame or its neighbours are correlated. The lead of a position
/// is the sum of leads for it minus the sum of leads against it, divided by the standard deviation
/// of this difference.
///
/// Input     links among `frames` frames of this shape, each with reference < moved; inverted links
///           are ignored. `least_lead`: the minimum lead of a sound frame.
/// Output    one vote per frame; no position for frames that trusted links do not connect to the
///           largest group of connected frames.
/// Cost      O(links) per round, at most ten rounds.
/// Deterministic
std::vector<FrameVote> consensus(std::size_t frames, std::span<const LinkSeen> links,
                                 ImageShape shape, double tolerance = 1.5,
                                 double least_lead = 1.75);

/// The level and the contrast of a frame. (T − level) / signal normalises a sample T of the frame
/// to level 0 and to the contrast of the typical frame.
struct FrameContrast {
    double level = 0;  ///< mean of the samples
    double signal = 1; ///< amplitude of the specimen's signal, relative to the typical frame;
                       ///< negative if the frame has the opposite contrast
    double noise = 1;  ///< standard deviation of the noise, in units of the typical frame's signal

    /// The weight of the frame in an average with minimum noise: signal² / noise².
    double weight() const { return signal * signal / (noise * noise); }
    bool inverted() const { return signal < 0; }
};

/// The normalised cross-correlation (NCC) of two registered frames, over their overlap.
struct ContrastLink {
    std::size_t reference = 0, moved = 0;
    double ncc = 0;
};

/// Separates the signal of each frame of a series from its noise. The covariance of two registered
/// frames is the product of their signals, because their noise is independent. So with the standard
/// deviations σ of the frames, s_i s_j = NCC_ij σ_i σ_j for every link; the logarithms of s are
/// solved for by least squares. A weak regularisation term pulls the signals of linked frames
/// together. It only affects what the links leave undetermined, such as the ratio of the signals of
/// a single pair. A frame without links has the signal of the typical frame.
///
/// Input     the frames' standard deviations after the same filter as for the links; the links.
///           Links with an NCC of 0 or less are ignored.
/// Output    one contrast per frame, with a level of 0 and a positive signal. The noise is at least
///           a twentieth of the frame's standard deviation, so that weights are finite.
/// Cost      O(frames · reach²), where reach is the largest distance between linked frames.
/// Deterministic
std::vector<FrameContrast> contrasts_of(std::span<const double> deviations,
                                        std::span<const ContrastLink> links);

/// Decides by vote which frames have the opposite contrast of the first frame. Registrations are
/// weighted by their leads; registrations that are not trusted are ignored.
///
/// Input     links among `frames` frames, each with reference < moved.
/// Output    one value per frame: 1 if its contrast is inverted.
/// Cost      O(links · reach) per round, at most ten rounds; reach is the largest distance between
///           linked frames.
/// Deterministic
std::vector<std::uint8_t> inverted_frames(std::size_t frames, std::span<const LinkSeen> links);

} // namespace sextant::registration
