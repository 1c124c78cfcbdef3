// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/array/sample.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

// Offsets for computations. Sums in floats lose more than the conversion of samples to floats
// (array/frame_source.hpp): those of samples near 10⁷ err by about 1. Products exceed the range of
// floats earlier than samples: f32 samples of volumes have scales, too.
namespace sextant {

/// The use for which an offset is determined.
enum class OffsetFor : std::uint8_t {
    /// The conversion of samples to floats: 0 if floats hold the samples.
    conversion,
    /// Computations with the floats: also if samples, except those of 8 bits and f16, are farther
    /// from 0 than 16 times their range.
    computation
};

/// Bytes converted at a time: few enough to stay in the cache.
inline constexpr Bytes converted_bytes = Bytes{1} << 18;

/// Finds finite doubles that have become infinite floats. If `strict`, throws; otherwise these are
/// no numbers, as if they were missing.
void check_range(std::span<const std::byte> from, std::span<float> to, double scale, bool strict,
                 const std::string& path, std::int64_t frame);

/// As offset_of(source, frames), which is for conversion. Cost: for computation, about 16 Ki
/// samples per frame are read if floats hold all samples of the type.
double offset_of(FrameSource& source, std::span<const std::int64_t> frames, OffsetFor purpose);

/// As the functions without a purpose, which are for conversion.
Centred less_offset(std::unique_ptr<FrameSource> source, OffsetFor purpose);
Centred less_offset(std::unique_ptr<FrameSource> source, std::int64_t frame, OffsetFor purpose);
Centred less_offset_of_volume(std::unique_ptr<FrameSource> source, OffsetFor purpose);

/// True if floats hold samples of this type near an offset from offset_of(), so that the offset is
/// added back to results of f32, too.
bool floats_hold_offset(Sample stored, double offset);

/// The offset to add to results that are written as `sink`, before write_scaled() and similar
/// functions: 0 if these add it because the sink is f64, or if floats do not hold the offset.
float offset_added(Sample sink, Sample stored, double offset);
/// The sums of values and an offset; the values themselves if it is 0, otherwise in the buffer.
std::span<const float> sum_of(std::span<const float> values, float offset,
                              std::vector<float>& buffer);

/// Rounds results of f32 samples that were divided by a scale. Returns the number of finite ones
/// that become infinite, or 0 although they are not.
Elements to_nearest_floats(std::span<const double> from, std::span<float> to);
/// Says how many results of the samples at `path` these are; "" if there are none.
std::string remark_on_lost_results(Elements lost, const std::string& path);

} // namespace sextant
