// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/registration/consensus.hpp"
#include "sextant/registration/frame_series.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

// Series whose contrast inverts, such as focal series.
namespace sextant::registration {

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

/// A series in which some frames are inverted, as f32: their samples T become 2 · level − T, where
/// level is the frame's mean.
class InvertedFrames : public FrameSource {
  public:
    /// Input     for each frame, its level if it is to be inverted, otherwise NaN. The source must
    ///           outlive this object.
    InvertedFrames(FrameSource& source, std::vector<double> levels);

  private:
    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) override;

    FrameSource& source_;
    std::vector<double> levels_;
    std::vector<float> samples_;
};

/// Returns the series with its inverted frames (FrameContrast) brought to the contrast of the
/// others; null if there are none. The source of the context must outlive the result.
/// Collective.
std::unique_ptr<FrameSource> of_one_contrast(const SeriesContext& context,
                                             std::span<const FrameRegistration> own);

} // namespace sextant::registration
