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

// Offsets. A float has 24 significant bits. Floats cannot resolve small differences between samples
// of 32 or 64 bits that are far from 0: 10⁹ and 10⁹ + 1 are the same float. The functions below
// subtract an offset before such samples are converted to floats, and add the offset back to
// results whose type can represent the sum. Sums in floats lose more than the conversion of
// samples: sums of samples near 10⁷ err by about 1. Products overflow earlier than samples, so f32
// samples of volumes also have scales.
namespace sextant {

/// The purpose for which an offset is determined.
enum class OffsetFor : std::uint8_t {
    /// Conversion of samples to floats: the offset is 0 if floats represent all samples exactly.
    conversion,
    /// Computation with the floats: samples also get an offset if they are farther from 0 than 16
    /// times their range, unless they have 8 bits or are f16.
    computation
};

/// Subtracts an offset from samples and rounds the differences to the nearest floats. The
/// differences of integers are exact before rounding; those of f64 samples are computed in f64.
///
/// Requires  equal numbers of samples and floats; an offset from offset_of() (std::logic_error).
void to_floats_less(Sample sample, double offset, std::span<const std::byte> from,
                    std::span<float> to);

/// Returns the offset to subtract from a series: the median sample, or 0 if floats resolve the
/// range of the middle 90 % of the samples with 16 bits or more.
///
/// Input     the frames to examine; only the middle rows of each frame are read. A frame that
///           cannot be read is ignored. If frames have different offsets, the result is the offset
///           of median magnitude.
/// Cost      reads about 64 Ki samples per frame. If floats represent the sample type exactly,
///           reads 16 Ki samples per frame for computation, and none for conversion.
/// Deterministic  the same frames give the same offset, so ranks need not exchange it.
double offset_of(FrameSource& source, std::span<const std::int64_t> frames,
                 OffsetFor purpose = OffsetFor::conversion);

/// A series with its offset subtracted.
struct Centred {
    std::unique_ptr<FrameSource> frames; ///< unchanged if the offset is 0, otherwise f32
    double offset = 0;
};
/// Determines the offset from several frames, and returns the series with this offset subtracted.
/// Throws InvalidFile if floats cannot hold most of the f64 samples examined. Single samples that
/// exceed the range of floats, such as damaged pixels, become NaN.
Centred less_offset(std::unique_ptr<FrameSource> source, OffsetFor purpose = OffsetFor::conversion);
/// Determines the offset from one frame, and returns the series with this offset subtracted.
Centred less_offset(std::unique_ptr<FrameSource> source, std::int64_t frame,
                    OffsetFor purpose = OffsetFor::conversion);
/// Determines one offset from several frames together, because samples of a volume may differ only
/// between planes.
Centred less_offset_of_volume(std::unique_ptr<FrameSource> source,
                              OffsetFor purpose = OffsetFor::conversion);

// Scales. A double may be far larger or smaller than any float. Such f64 samples are also divided
// by a power of two, which changes no digit.

/// A series whose samples are read as floats: sample = offset + scale · float.
class ScaledFrames final : public FrameSource {
  public:
    /// `strict`: finite samples that exceed the range of floats cause InvalidFile; otherwise they
    /// become NaN.
    ScaledFrames(std::unique_ptr<FrameSource> source, double offset, double scale, bool strict);

    double offset() const { return offset_; }
    double scale() const { return scale_; }
    void be_strict() { strict_ = true; }
    /// The type of the samples before they are converted.
    Sample stored() const { return source_->header().sample; }
    /// The number of samples per row that differ from the offset by so little that their float is
    /// 0. The key is frame · height + row, for the rows read so far; rows without such samples have
    /// no entry.
    const std::map<std::int64_t, Elements>& vanished() const { return vanished_; }

  private:
    void load(std::int64_t frame, Rows rows, std::span<std::byte> to);

    std::unique_ptr<FrameSource> source_;
    double offset_, scale_;
    bool strict_;
    std::map<std::int64_t, Elements> vanished_;
    std::vector<std::byte> stored_;
};

/// Determine an offset and a scale from one frame, or from a volume as less_offset_of_volume()
/// does. Return the series unchanged if it needs neither, otherwise as ScaledFrames. A constant
/// frame gets an offset, too.
///
/// Cost      read all samples of the frame or volume if its middle samples are all 0 or have an
///           unusual magnitude; read none if floats represent the sample type exactly.
/// Deterministic  as offset_of().
std::unique_ptr<FrameSource> scaled(std::unique_ptr<FrameSource> source, std::int64_t frame);
std::unique_ptr<FrameSource> scaled_volume(std::unique_ptr<FrameSource> source);
/// Returns the same series, but finite samples that exceed the range of floats cause InvalidFile.
std::unique_ptr<FrameSource> strict(Centred series);

/// Converts floats to offset + scale · float. Throws InvalidFile for `path` if a finite float
/// exceeds the range of doubles.
void to_doubles(std::span<const float> from, double offset, double scale, std::span<double> to,
                const std::string& path);
/// Rounds doubles to floats. Throws InvalidFile for `path` if a finite double exceeds the range of
/// floats, or if a nonzero double becomes 0.
void to_floats(std::span<const double> from, std::span<float> to, const std::string& path);

/// Writes offset + scale · value if the sink holds f64, scale · value otherwise. Throws InvalidFile
/// if the samples of the sink cannot hold a finite result.
void write_scaled(FrameSink& sink, std::span<const float> values, double offset, double scale = 1);

/// True if floats hold samples of this type near an offset from offset_of(). The offset is then
/// added back to f32 results, too.
bool floats_hold_offset(Sample stored, double offset);

/// Returns the offset to add to results before write_scaled() and similar functions. The offset is
/// 0 if these functions add it themselves because the sink is f64, or if floats cannot hold the
/// offset.
float offset_added(Sample sink, Sample stored, double offset);
/// Returns the sums of values and an offset. If the offset is 0, returns the values themselves;
/// otherwise stores the sums in `buffer`.
std::span<const float> sum_of(std::span<const float> values, float offset,
                              std::vector<float>& buffer);

/// Rounds results to floats. Returns the number of results that floats cannot hold: finite results
/// that become infinite, and nonzero results that become 0.
Elements to_nearest_floats(std::span<const double> from, std::span<float> to);
/// Returns a remark with the number of results lost in to_nearest_floats(); "" if there are none.
std::string remark_on_lost_results(Elements lost, const std::string& path);

} // namespace sextant
