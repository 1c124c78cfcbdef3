// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/array/sample.hpp"
#include "sextant/core/units.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

// Offsets. A float has 24 significant bits, so samples of 32 or 64 bits far from 0 may differ by
// less than a float can resolve: 10⁹ and 10⁹ + 1 are the same float. The functions below subtract
// an offset before such samples are converted to floats. The offset is added back to results whose
// type can represent the sum. Sums in floats lose more than the conversion of samples: those of
// samples near 10⁷ err by about 1. Products exceed the range of floats earlier than samples:
// f32 samples of volumes have scales, too.
namespace sextant {

/// The use for which an offset is determined.
enum class OffsetFor : std::uint8_t {
    /// The conversion of samples to floats: 0 if floats hold the samples.
    conversion,
    /// Computations with the floats: also if samples, except those of 8 bits and f16, are farther
    /// from 0 than 16 times their range.
    computation
};

/// Subtracts an offset from samples and rounds the differences to the nearest floats. Differences
/// are exact before they are rounded; those of f64 samples are computed in f64.
///
/// Requires  equal numbers of samples and floats; an offset from offset_of() (std::logic_error).
void to_floats_less(Sample sample, double offset, std::span<const std::byte> from,
                    std::span<float> to);

/// The offset to subtract from a series. It is 0 unless floats would resolve the range of the
/// middle 90 % of the samples with fewer than 16 bits; otherwise it is the median sample.
///
/// Input     the frames to examine; only some rows in the middle of each are read. A frame that
///           cannot be read is ignored. If frames have different offsets, the result is the one
///           of median magnitude.
/// Cost      reads about 64 Ki samples per frame, or 16 Ki if floats represent the sample type
///           exactly: none of these for conversion.
/// Deterministic  the same frames give the same offset, so ranks need not exchange it.
double offset_of(FrameSource& source, std::span<const std::int64_t> frames,
                 OffsetFor purpose = OffsetFor::conversion);

/// A series with its offset subtracted.
struct Centred {
    std::unique_ptr<FrameSource> frames; ///< unchanged if the offset is 0, else as f32
    double offset = 0;
};
/// Throws InvalidFile if floats cannot hold most f64 samples examined. Single samples that exceed
/// the range of floats, as of damaged pixels, become NaN.
Centred less_offset(std::unique_ptr<FrameSource> source, OffsetFor purpose = OffsetFor::conversion);
/// Determines the offset from one frame, and returns the series with this offset subtracted.
Centred less_offset(std::unique_ptr<FrameSource> source, std::int64_t frame,
                    OffsetFor purpose = OffsetFor::conversion);
/// Determines the offset from several frames together, because they are the planes of a volume:
/// samples may differ from plane to plane only.
Centred less_offset_of_volume(std::unique_ptr<FrameSource> source,
                              OffsetFor purpose = OffsetFor::conversion);

// Scales. A double may be far larger or smaller than any float. Samples of f64 are then also
// divided by a power of two, which changes no digit.

/// A series of which samples are read as floats: sample = offset + scale · float.
class ScaledFrames final : public FrameSource {
  public:
    /// `strict`: InvalidFile is thrown for finite samples that exceed the range of floats, which
    /// otherwise become NaN.
    ScaledFrames(std::unique_ptr<FrameSource> source, double offset, double scale, bool strict);

    double offset() const { return offset_; }
    double scale() const { return scale_; }
    void be_strict() { strict_ = true; }
    /// The type of the samples before they are converted.
    Sample stored() const { return source_->header().sample; }
    /// Per row that was read, as frame · height + row: the number of samples that differ from the
    /// offset by so little that their float is 0. Rows without such samples are missing.
    const std::map<std::int64_t, Elements>& vanished() const { return vanished_; }

  private:
    void load(std::int64_t frame, Rows rows, std::span<std::byte> to);

    std::unique_ptr<FrameSource> source_;
    double offset_, scale_;
    bool strict_;
    std::map<std::int64_t, Elements> vanished_;
    std::vector<std::byte> stored_;
};

/// Determines an offset and a scale from a frame, or as less_offset_of_volume(). The series is
/// unchanged, or is read as ScaledFrames. The samples of a constant frame have an offset, too.
///
/// Cost      reads all samples of the frame or volume if those in its middle are 0 or have an
///           unusual magnitude; none if floats represent the sample type exactly.
/// Deterministic  as offset_of().
std::unique_ptr<FrameSource> scaled(std::unique_ptr<FrameSource> source, std::int64_t frame);
std::unique_ptr<FrameSource> scaled_volume(std::unique_ptr<FrameSource> source);
/// The same series, but InvalidFile is thrown for finite samples that exceed the range of floats.
std::unique_ptr<FrameSource> strict(Centred series);

/// Converts floats to offset + scale · float. Throws InvalidFile for `path` if a finite float
/// exceeds the range of doubles.
void to_doubles(std::span<const float> from, double offset, double scale, std::span<double> to,
                const std::string& path);
/// Rounds doubles to floats. Throws InvalidFile for `path` if a finite double exceeds the range of
/// floats, or one other than 0 becomes 0.
void to_floats(std::span<const double> from, std::span<float> to, const std::string& path);

/// Writes offset + scale · value if the sink holds f64, scale · value otherwise. Throws InvalidFile
/// if the samples of the sink cannot hold a finite result.
void write_scaled(FrameSink& sink, std::span<const float> values, double offset, double scale = 1);

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
