// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/array_source.hpp"
#include "sextant/array/sample.hpp"
#include "sextant/core/image.hpp"
#include "sextant/core/scratch_file.hpp"
#include "sextant/core/units.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sextant {

/// The shape of a hyperstack, and the plane that a source reads. Each frame of a hyperstack has
/// channels × slices planes. If the slices of one time are read as frames, `times` is the number of
/// times, and `slices` is 1.
struct Hyperstack {
    std::int64_t channels = 1, slices = 1; ///< numbers of channels and slices
    std::int64_t channel = 0, slice = 0;   ///< the plane that is read, counted from 0
    std::int64_t times = 1, time = 0;      ///< the number of times, and the time that is read
    bool operator==(const Hyperstack&) const = default;
};

/// The axes of the array in which a file stores a series, including rows and columns, in C order:
/// the last axis varies fastest.
struct ArrayAxes {
    std::vector<std::int64_t> lengths = {};
    std::string names = {}; ///< one letter of "TCZYX" per axis; empty if the axes have no names
    /// Other names that the file states for its axes, such as "Energy"; empty if there are none.
    std::vector<std::string> labels = {};
    bool operator==(const ArrayAxes&) const = default;
};

/// The position and orientation of a volume in space, as NIfTI stores them. Viewers use them to
/// align several volumes.
struct VolumeGrid {
    std::array<double, 3> spacing{};          ///< between columns, rows and planes
    std::string unit;                         ///< of the spacing and the offsets; "" if unknown
    int quaternion_code = 0, matrix_code = 0; ///< coordinate systems, as NIfTI's codes; 0: unknown
    double handedness = 1;                    ///< 1, or -1 if the planes are in reverse order
    std::array<double, 6> quaternion{};       ///< quaternion b, c and d, then offsets x, y and z
    std::array<std::array<double, 4>, 3> matrix{}; ///< maps column, row and plane to x, y and z
    bool operator==(const VolumeGrid&) const = default;
};

/// Properties of a series of frames that are known without reading samples.
struct FrameHeader {
    std::int64_t frames = 0; ///< the number of readable frames
    ImageShape shape;        ///< shape of each frame
    Sample sample = Sample::f32;
    int channels = 1; ///< samples per pixel, interleaved: 1 grey, 3 colour; 2 and 4 with alpha last
    PixelSize pixel = {};
    /// Messages for the user, such as "truncated: 17 of 20 frames are complete".
    std::vector<std::string> remarks = {};
    Seconds frame_interval = 0; ///< time between frames; 0 if unknown
    Hyperstack hyperstack = {};
    double slice_distance = 0; ///< between frames that are slices, in pixel.unit; 0 if unknown
    /// The number of frames in a chunk of the file. Reading one frame decodes all frames of its
    /// chunk.
    std::int64_t frames_per_chunk = 1;
    ArrayAxes axes = {};                 ///< empty if the file is not an array
    std::optional<VolumeGrid> grid = {}; ///< of the volume whose planes are the frames
    /// The number of frames that the file states; 0 if the format does not state it. The number
    /// exceeds `frames` if the file is truncated or still being written.
    std::int64_t stated_frames = 0;

    Bytes row_bytes() const { return shape.width * channels * size_of(sample); }
};

/// The time between consecutive frames of a selection; 0 unless the selected frames are evenly
/// spaced.
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

/// The choice of frames in an array: the axes that are read as frames, from the slowest to the
/// fastest, and a fixed position on each of the other axes (channel, slice, time).
struct FrameAxes {
    std::vector<std::size_t> frames;
    std::vector<std::int64_t> fixed; ///< one position per array axis; 0 for axes in `frames`

    /// The position of a frame along each axis of an array of these lengths.
    std::vector<std::int64_t> position_of(std::int64_t frame,
                                          std::span<const std::int64_t> lengths) const;
    /// The frame at a position along each axis.
    std::int64_t frame_of(std::span<const std::int64_t> position,
                          std::span<const std::int64_t> lengths) const;
};

/// The header of a series as an array. The axes are those in the header of the series if they
/// match its frames, otherwise t, y and x, or has no names if `lengths` states other axes. Chunks
/// have header.frames_per_chunk frames in arrays of three axes, and length 1 along all other axes.
ArrayHeader array_header_of(const FrameHeader& frames, std::vector<std::int64_t> lengths = {});
/// Returns the choice in which all axes are frames except the last two, which are rows and columns.
FrameAxes frame_axes_of(const ArrayHeader& header);

/// The functions of a format that stores a series frame by frame. The functions throw InvalidFile,
/// which names the frame.
struct FrameReading {
    /// Reads some rows of a frame, at least one, as stored.
    std::function<void(std::int64_t frame, Rows rows, std::span<std::byte> to)> rows;
    std::function<ScratchPlace()> share = {}; ///< as ArraySource::share(); may be empty
};

/// Returns a series as an array whose last two axes are rows and columns. The axes are those of
/// array_header_of().
std::unique_ptr<ArraySource> array_of_frames(std::string path, const FrameHeader& header,
                                             FrameReading reading);

/// A series of frames of one shape, read on demand by frames or rows. A FrameSource is a view of an
/// array; only the state of a decoder is kept between reads.
///
/// Frames are numbered from 0. Row 0 is the first stored row. This is the top row, except in
/// formats that by convention store the bottom row first (MRC, SER); their rows are not flipped.
///
/// Not thread-safe: each thread opens its own source.
class FrameSource {
  public:
    /// Reads frames from an array whose last two axes are rows and columns.
    FrameSource(std::unique_ptr<ArraySource> array, FrameHeader header, FrameAxes axes);
    /// Reads a series that is stored frame by frame.
    FrameSource(std::string path, FrameHeader header, FrameReading reading);
    virtual ~FrameSource() = default; // for derived classes of series with further properties
    FrameSource(const FrameSource&) = delete;
    FrameSource& operator=(const FrameSource&) = delete;

    const std::string& path() const { return array_->path(); }
    const FrameHeader& header() const { return header_; }

    /// Reads samples as stored, in native byte order, with interleaved channels.
    ///
    /// Requires  an existing frame, existing rows, and a buffer of exactly the size of the rows
    ///           (std::logic_error), aligned for the samples.
    /// Throws    InvalidFile, which names the frame, if the frame cannot be read or has another
    ///           shape; the content of `to` is then unspecified.
    /// Cost      decoding of compressed frames starts at the beginning of the strip or file that
    ///           holds the first row, unless reading continues after the last row of the previous
    ///           call.
    void read_samples(std::int64_t frame, Rows rows, std::span<std::byte> to);
    /// Reads `count` whole consecutive frames from `first` on, as stored. For some formats (HDF5),
    /// this is faster than one call per frame.
    void read_frames(std::int64_t first, std::int64_t count, std::span<std::byte> to);

    /// Reads rows as grey values, rounded to the nearest floats. Colours are converted to
    /// luminance; alpha is ignored. Finite f64 samples that exceed the range of floats become NaN
    /// in grey frames, and cause InvalidFile in colour frames.
    void read_rows(std::int64_t frame, Rows rows, std::span<float> to);
    void read_frame(std::int64_t frame, std::span<float> to);

    ScratchPlace share() { return array_->share(); }

    /// The array of which this series is a view, and the choice of its axes.
    ArraySource& array() { return *array_; }
    const FrameAxes& axes() const { return axes_; }

    /// Releases the array of which this series is a view.
    ///
    /// Requires  an object of FrameSource itself, not of a derived class.
    std::unique_ptr<ArraySource> into_array() && { return std::move(array_); }

  protected:
    Bytes row_bytes() const { return header_.row_bytes(); }

  private:
    void load(std::int64_t frame, std::int64_t frames, Rows rows, std::span<std::byte> to);
    void check(std::int64_t frame, Rows rows, std::size_t given, Bytes expected) const;
    void to_grey(std::span<const float> pixels, std::span<float> to) const;

    std::unique_ptr<ArraySource> array_;
    const FrameReading* reading_ = nullptr; ///< set if the series is stored frame by frame
    FrameHeader header_;
    FrameAxes axes_;
    ArrayBlock block_;              ///< the block of the last read
    std::vector<std::byte> stored_; ///< rows as stored, before conversion to floats
    std::vector<float> wide_;       ///< colours, before conversion to grey
};

/// The path and header of a series. Formats derive classes from FrameFile and add the functions of
/// FrameReading or FrameWriting.
class FrameFile {
  public:
    FrameFile(std::string path, FrameHeader header)
        : path_(std::move(path)), header_(std::move(header)) {}
    FrameFile(const FrameFile&) = delete;
    FrameFile& operator=(const FrameFile&) = delete;

    const std::string& path() const { return path_; }
    const FrameHeader& header() const { return header_; }
    Bytes row_bytes() const { return header_.row_bytes(); }

  private:
    std::string path_;
    FrameHeader header_;
};

/// Makes a FrameSource from an object of a class derived from FrameFile. The class has load(frame,
/// rows, to).
template <class Reader>
std::unique_ptr<FrameSource> frames_of(std::unique_ptr<Reader> reader) {
    const std::shared_ptr<Reader> shared = std::move(reader);
    return std::make_unique<FrameSource>(
        shared->path(), shared->header(),
        FrameReading{[shared](std::int64_t frame, Rows rows, std::span<std::byte> to) {
            shared->load(frame, rows, to);
        }});
}

/// Takes the next rows of a series, all of the same frame.
using TakeRows =
    std::function<void(std::int64_t frame, Rows rows, std::span<const std::byte> samples)>;

/// The functions of a format that writes a series frame by frame. The functions throw InvalidFile.
struct FrameWriting {
    TakeRows rows;                ///< appends the next rows
    std::function<void()> finish; ///< makes the file appear
};

/// Writes a series of grey frames, in order. The file appears complete or not at all. A FrameSink
/// is a view of an ArraySink.
class FrameSink {
  public:
    /// Writes a series that is stored frame by frame.
    FrameSink(std::string path, FrameHeader header, FrameWriting writing);
    /// Writes frames from `first` on to an array of frames, rows and columns, or one image to an
    /// array of rows and columns. `also`: if set, called with all rows in order.
    ///
    /// Requires  `first` to be a multiple of the number of frames per chunk.
    /// Cost      rows are held until chunks are complete: one row of chunks of a frame or, if a
    ///           chunk has several frames, all frames of a chunk.
    FrameSink(std::unique_ptr<ArraySink> array, FrameHeader header, std::int64_t first = 0,
              TakeRows also = {});
    FrameSink(const FrameSink&) = delete;
    FrameSink& operator=(const FrameSink&) = delete;

    const std::string& path() const { return array_->path(); }
    const FrameHeader& header() const { return header_; }

    /// Writes the next rows: those of frame 0 from row 0 on, then those of frame 1, and so on. A
    /// call may pass any number of whole rows of one frame. Values are converted by `from_floats`.
    /// Throws InvalidFile if the rows cannot be written, and std::logic_error for partial rows or
    /// for more rows than remain in the frame.
    void write(std::span<const float> rows);
    /// Writes rows whose samples already have the type of the file, for types that floats cannot
    /// represent exactly.
    void write_samples(std::span<const std::byte> rows);
    /// Makes the complete file appear at its path. Without this call, no file appears. Throws
    /// InvalidFile.
    ///
    /// Requires  every row of every frame to be written (std::logic_error).
    void commit();

  private:
    std::int64_t checked_rows(std::size_t given, std::size_t row) const;
    void append_rows(std::int64_t count, std::span<const std::byte> samples);
    void put(std::int64_t frame, std::int64_t frames, Rows rows,
             std::span<const std::byte> samples);

    FrameHeader header_;
    std::unique_ptr<ArraySink> array_;
    TakeRows also_;
    ArrayBlock block_;
    std::int64_t first_ = 0; ///< the index in the array of the sink's frame 0
    std::int64_t chunk_frames_ = 1, chunk_rows_ = 1;
    std::int64_t frame_ = 0, row_ = 0; ///< the next row to be written
    std::vector<std::byte> stored_;
    std::vector<std::byte> held_; ///< rows whose chunks are not complete
};

/// Returns an array sink with this header that writes its planes, in order, to a series of frames.
/// Rows and columns must be the last two axes.
std::unique_ptr<ArraySink> array_of(std::unique_ptr<FrameSink> frames, ArrayHeader header);

/// Makes a FrameSink from an object of a class derived from FrameFile. The class has append(frame,
/// rows, samples) and finish().
template <class Writer>
std::unique_ptr<FrameSink> sink_of(std::unique_ptr<Writer> writer) {
    const std::shared_ptr<Writer> shared = std::move(writer);
    FrameWriting writing{
        [shared](std::int64_t frame, Rows rows, std::span<const std::byte> samples) {
            shared->append(frame, rows, samples);
        },
        [shared] { shared->finish(); }};
    return std::make_unique<FrameSink>(shared->path(), shared->header(), std::move(writing));
}

} // namespace sextant
