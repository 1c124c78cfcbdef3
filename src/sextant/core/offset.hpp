// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/frame_source.hpp"

#include <cstdint>
#include <memory>
#include <span>

// A float has 24 bits. Samples of 32 or 64 bits may lie so far from 0 that these do not show what
// they differ by: 10⁹ and 10⁹ + 1 are one float. So an offset is taken off before such samples
// become floats, here and nowhere else, and it is added again to results that are written where
// their type can hold it.
namespace sextant {

/// The nearest floats of samples less an offset, whose difference is exact before it is rounded (of
/// f64: rounded to f64).
///
/// Requires  as many samples as floats; an offset of offset_of() (std::logic_error).
void to_floats_less(Sample sample, double offset, std::span<const std::byte> from,
                    std::span<float> to);

/// The offset of a series: 0 unless floats would keep fewer than 16 of the bits by which 90 % of
/// the samples differ; then one of the samples in their middle.
///
/// Input     frames to look at: some rows in the middle of each. A frame that cannot be read does
///           not count; of several that disagree, the one in the middle holds.
/// Cost      up to 64 Ki samples a frame, of types of 32 bits or more.
/// Deterministic  of the same frames the same number, so that ranks need not tell one another.
double offset_of(FrameSource& source, std::span<const std::int64_t> frames);

/// A series less its offset.
struct Centred {
    std::unique_ptr<FrameSource> frames; ///< the source itself where the offset is 0, else of f32
    double offset = 0;
};
Centred less_offset(std::unique_ptr<FrameSource> source);
/// The same, by the samples of one of its frames.
Centred less_offset(std::unique_ptr<FrameSource> source, std::int64_t frame);

/// Writes values with an offset added again if the sink holds f64, and as they are otherwise.
void write_with_offset(FrameSink& sink, std::span<const float> values, double offset);

} // namespace sextant
