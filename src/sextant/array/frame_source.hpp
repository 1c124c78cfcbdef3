// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/sample.hpp"
#include "sextant/core/image.hpp"
#include "sextant/core/reserved.hpp"
#include "sextant/core/scratch_file.hpp"
#include "sextant/core/units.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant {

/// The size of a pixel in the specimen or in its diffraction pattern.
struct PixelSize {
    double x = 0, y = 0; ///< 0 if unknown
    std::string unit;    ///< as stated by the source, such as "nm" or "1/nm"; "" if unknown
    bool known() const { return x > 0 && y > 0; }
    bool operator==(const PixelSize&) const = default;
};

/// The shape of a hyperstack, whose frames have channels × slices planes each, and the plane that a
/// source reads. If the slices of one time are read as frames, `times` is the number of times, and
/// `slices` is 1.
struct Hyperstack {
    std::int64_t channels = 1, slices = 1; ///< numbers of channels and slices
    std::int64_t channel = 0, slice = 0;   ///< the plane that is read, counted from 0
    std::int64_t times = 1, time = 0;      ///< the number of times, and the one that is read
    bool operator==(const Hyperstack&) const = default;
};

/// The axes of the array that holds a series, in the order of the file: the last one varies fastest
/// in C order. Rows and columns are included.
struct ArrayAxes {
    std::vector<std::int64_t> lengths = {};
    std::string names = {}; ///< a letter of "TCZYX" per axis; empty if the axes have no names
    /// Any names that the file states for its axes, such as "Energy"; empty if it states none.
    std::vector<std::string> labels = {};
    bool operator==(const ArrayAxes&) const = default;
};

/// The position and orientation of a volume in space, as NIfTI stores them. Programs that show
/// volumes over each other use them.
struct VolumeGrid {
    std::array<double, 3> spacing{};          ///< between columns, rows and planes
    std::string unit;                         ///< of the spacing and the offsets; "" if unknown
    int quaternion_code = 0, matrix_code = 0; ///< the meaning of the coordinates; 0: not stated
    double handedness = 1;                    ///< 1, or -1 if the planes are in reverse order
    std::array<double, 6> quaternion{};       ///< b, c and d of the rotation, then the offsets
    std::array<std::array<double, 4>, 3> matrix{}; ///< from column, row and plane to x, y and z
    bool operator==(const VolumeGrid&) const = default;
};

/// Properties of a series of frames that are known without reading samples.
struct FrameHeader {
    std::int64_t frames = 0; ///< the number of readable frames
    ImageShape shape;        ///< shape of each frame
    Sample sample = Sample::f32;
    int channels = 1; ///< samples per pixel, interleaved: 1 grey, 3 colour; 2 and 4 with alpha last
    PixelSize pixel = {};
    /// Messages for the user, such as "truncated: 17 of 20 frames whole".
    std::vector<std::string> remarks = {};
    Seconds frame_interval = 0; ///< time between frames; 0 if unknown
    Hyperstack hyperstack = {};
    double slice_distance = 0; ///< between frames that are slices, in pixel.unit; 0 if unknown
    /// The number of frames in a chunk of the file: reading one frame decodes all of them.
    std::int64_t frames_per_chunk = 1;
    ArrayAxes axes = {};                 ///< empty if the file is not an array
    std::optional<VolumeGrid> grid = {}; ///< of the volume whose planes are the frames
    /// The number of frames that the file states; more than `frames` if it is truncated or still
    /// being written. 0 if the format states none.
    std::int64_t stated_frames = 0;
    Reserved<> reserved = {};
};

/// The time between consecutive frames of this selection; 0 unless they are evenly spaced.
Seconds frame_interval_of(const FrameHeader& series, std::span<const std::int64_t> frames);

/// Rows [first, last) of a frame.
struct Rows {
    std::int64_t first = 0, last = 0;
    std::int64_t count() const { return last - first; }
};

/// The luminance of a colour by ITU-R BT.709, applied to the values as stored (without gamma
/// correction).
inline constexpr float luminance(float r, float g, float b) {
    return 0.2126F * r + 0.7152F * g + 0.0722F * b;
}

/// A series of frames of one shape, read on demand: a frame, or some of its rows, at a time. Only
/// the state of a decoder is kept between reads.
///
/// Frames are numbered from 0. Row 0 is the first stored row: the top one, except in formats that
/// by convention start with the bottom row (MRC, SER), whose rows are not flipped.
///
/// Not thread-safe: each thread opens its own source.
class FrameSource {
  public:
    virtual ~FrameSource() = default;
    FrameSource(const FrameSource&) = delete;
    FrameSource& operator=(const FrameSource&) = delete;

    const std::string& path() const { return path_; }
    const FrameHeader& header() const { return header_; }

    /// Reads samples as stored, in native byte order, with interleaved channels.
    ///
    /// Requires  an existing frame, existing rows, and a buffer of exactly their size
    ///           (std::logic_error).
    /// Throws    InvalidFile, naming the frame, if the frame cannot be read or has another shape;
    ///           the content of `to` is then unspecified.
    /// Cost      compressed frames are decoded from the start of the strip or file that holds the
    ///           first row, unless reading continues after the row read last.
    void read_samples(std::int64_t frame, Rows rows, std::span<std::byte> to);

    /// Reads rows as grey values, rounded to the nearest floats. Colours are converted to
    /// luminance; alpha is ignored. Finite f64 samples that exceed the range of floats become NaN;
    /// in colours, they cause InvalidFile.
    void read_rows(std::int64_t frame, Rows rows, std::span<float> to);
    void read_frame(std::int64_t frame, std::span<float> to);

    /// If frames are read from a scratch file, such as a decompressed copy: completes it, and
    /// returns its position, from which other sources of the same series can read while this one
    /// exists. Throws InvalidFile if the file is damaged.
    virtual ScratchPlace share() { return {}; }

  protected:
    FrameSource(std::string path, FrameHeader header);
    Bytes row_bytes() const;

  private:
    virtual void load(std::int64_t frame, Rows rows, std::span<std::byte> to) = 0;
    void check(std::int64_t frame, Rows rows, std::size_t given, Bytes expected) const;
    void to_grey(std::span<const float> pixels, std::span<float> to) const;

    std::string path_;
    FrameHeader header_;
    std::vector<std::byte> stored_; ///< rows as stored, before conversion to floats
    std::vector<float> wide_;       ///< colours, before conversion to grey
};

/// Writes a series of grey frames, in order. The file appears whole or not at all.
class FrameSink {
  public:
    virtual ~FrameSink() = default;
    FrameSink(const FrameSink&) = delete;
    FrameSink& operator=(const FrameSink&) = delete;

    const std::string& path() const { return path_; }
    const FrameHeader& header() const { return header_; }

    /// Writes the next rows: those of frame 0 from row 0 on, then of frame 1, and so on. A call may
    /// pass any number of whole rows of one frame. Values are converted by `from_floats`. Throws
    /// InvalidFile if they cannot be written, std::logic_error for partial rows or for more rows
    /// than remain in the frame.
    void write(std::span<const float> rows);
    /// Writes rows of samples in the type of the file, for types that floats cannot represent
    /// exactly.
    void write_samples(std::span<const std::byte> rows);
    /// Makes the file appear. Requires every row of every frame to be written (std::logic_error).
    /// Without this call, nothing appears at the path. Throws InvalidFile.
    void commit();

  protected:
    FrameSink(std::string path, FrameHeader header);
    Bytes row_bytes() const;

  private:
    virtual void append(std::int64_t frame, Rows rows, std::span<const std::byte> samples) = 0;
    std::int64_t checked_rows(std::size_t given, std::size_t row) const;
    void append_rows(std::int64_t count, std::span<const std::byte> samples);
    virtual void finish() = 0;

    std::string path_;
    FrameHeader header_;
    std::int64_t frame_ = 0, row_ = 0; ///< the next row to be written
    std::vector<std::byte> stored_;
};

// Offsets. A float has 24 significant bits, so samples of 32 or 64 bits far from 0 may differ by
// less than a float can resolve: 10⁹ and 10⁹ + 1 are the same float. The functions below subtract
// an offset before such samples are converted to floats. The offset is added back to results whose
// type can represent the sum.

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
/// Cost      reads about 64 Ki samples per frame; none if floats represent the sample type exactly.
/// Deterministic  the same frames give the same offset, so ranks need not exchange it.
double offset_of(FrameSource& source, std::span<const std::int64_t> frames);

/// A series with its offset subtracted.
struct Centred {
    std::unique_ptr<FrameSource> frames; ///< unchanged if the offset is 0, else as f32
    double offset = 0;
};
/// Throws InvalidFile if floats cannot hold most f64 samples examined. Single samples that exceed
/// the range of floats, as of damaged pixels, become NaN.
Centred less_offset(std::unique_ptr<FrameSource> source);
/// Determines the offset from one frame, and returns the series with this offset subtracted.
Centred less_offset(std::unique_ptr<FrameSource> source, std::int64_t frame);
/// Determines the offset from several frames together, because they are the planes of a volume:
/// samples may differ from plane to plane only.
Centred less_offset_of_volume(std::unique_ptr<FrameSource> source);

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
    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) override;

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

/// Writes values, with the offset added back if the sink holds f64, unchanged otherwise.
void write_with_offset(FrameSink& sink, std::span<const float> values, double offset);
/// Writes offset + scale · value if the sink holds f64, scale · value otherwise. Throws InvalidFile
/// if the samples of the sink cannot hold a finite result.
void write_scaled(FrameSink& sink, std::span<const float> values, double offset, double scale);

} // namespace sextant
