// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/series/consensus.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sextant::registration {

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
