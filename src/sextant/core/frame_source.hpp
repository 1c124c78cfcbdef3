// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"
#include "sextant/core/sample.hpp"
#include "sextant/core/units.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sextant {

/// The size of a pixel in the specimen or in its diffraction pattern.
struct PixelSize {
    double x = 0, y = 0; ///< 0 where it is not known
    std::string unit;    ///< "m", "nm", "Å", "1/nm", as the source states it; "" where it does not
    bool known() const { return x > 0 && y > 0; }
    bool operator==(const PixelSize&) const = default;
};

/// Where frames are planes of a hyperstack, each frame has as many planes as channels times slices.
/// A source reads one of them.
struct Hyperstack {
    std::int64_t channels = 1, slices = 1; ///< how many there are
    std::int64_t channel = 0, slice = 0;   ///< the plane that is read, counted from 0
    bool operator==(const Hyperstack&) const = default;
};

/// What a series of frames is, known without reading their samples.
struct FrameHeader {
    std::int64_t frames = 0; ///< those that can be read
    ImageShape shape;        ///< of each
    Sample sample = Sample::f32;
    int channels =
        1; ///< samples a pixel, side by side: 1 grey, 3 colour; 2 and 4 with alpha behind
    PixelSize pixel = {};
    /// What users should know: "truncated: 17 of 20 frames whole".
    std::vector<std::string> remarks = {};
    Seconds frame_interval = 0; ///< from one frame to the next; 0 where it is not known
    Hyperstack hyperstack = {};
};

/// The time from one of these frames of a series to the next; 0 unless all are as far apart.
Seconds frame_interval_of(const FrameHeader& series, std::span<const std::int64_t> frames);

/// Rows [first, last) of a frame.
struct Rows {
    std::int64_t first = 0, last = 0;
    std::int64_t count() const { return last - first; }
};

/// The luminance of a colour by ITU-R BT.709, of values as they are stored.
inline constexpr float luminance(float r, float g, float b) {
    return 0.2126F * r + 0.7152F * g + 0.0722F * b;
}

/// A series of frames of one shape, read when it is asked for: a frame or some of its rows at a
/// time. What is read is not kept beyond what a codec needs to go on.
///
/// Frames are numbered from 0. Row 0 comes first as stored: on top, save in formats that by custom
/// begin with the lowest row (MRC, SER), whose rows are not turned round.
///
/// One thread at a time: each thread opens a source of its own.
class FrameSource {
  public:
    virtual ~FrameSource() = default;
    FrameSource(const FrameSource&) = delete;
    FrameSource& operator=(const FrameSource&) = delete;

    const std::string& path() const { return path_; }
    const FrameHeader& header() const { return header_; }

    /// The samples as they are stored, in this machine's byte order, channels side by side.
    ///
    /// Requires  a frame and rows that exist and memory of exactly their size (std::logic_error).
    ///           Throws InvalidFile, naming the frame, where it cannot be read or is of another
    ///           shape; `to` is then in any state.
    /// Cost      compressed frames are decoded from the start of the strip or file that holds the
    ///           first row, unless it follows the row that was read last.
    void read_samples(std::int64_t frame, Rows rows, std::span<std::byte> to);

    /// The same as grey values: the nearest floats, of colours their luminance; alpha is left out.
    void read_rows(std::int64_t frame, Rows rows, std::span<float> to);
    void read_frame(std::int64_t frame, std::span<float> to);

  protected:
    FrameSource(std::string path, FrameHeader header);
    Bytes row_bytes() const;

  private:
    virtual void load(std::int64_t frame, Rows rows, std::span<std::byte> to) = 0;
    void check(std::int64_t frame, Rows rows, std::size_t given, Bytes expected) const;
    void to_grey(std::span<const float> pixels, std::span<float> to) const;

    std::string path_;
    FrameHeader header_;
    std::vector<std::byte> stored_; ///< rows as stored, on their way to floats
    std::vector<float> wide_;       ///< colours, on their way to grey
};

/// Takes a series of grey frames, in order, and keeps it: all or nothing.
class FrameSink {
  public:
    virtual ~FrameSink() = default;
    FrameSink(const FrameSink&) = delete;
    FrameSink& operator=(const FrameSink&) = delete;

    const std::string& path() const { return path_; }
    const FrameHeader& header() const { return header_; }

    /// The next rows: those of frame 0 from row 0 on, then of frame 1, and so on; a call may give
    /// any number of whole rows of one frame. Values are stored as `from_floats` does.
    /// Throws InvalidFile where they cannot be written, std::logic_error for parts of rows and for
    /// more than the rest of a frame.
    void write(std::span<const float> rows);
    /// The same of samples as they are stored, where floats would round them.
    void write_samples(std::span<const std::byte> rows);
    /// Once every row of every frame is written (std::logic_error). Before that, nothing is to be
    /// seen at the path, and nothing stays if the sink is destroyed. Throws InvalidFile.
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
    std::int64_t frame_ = 0, row_ = 0; ///< the next to be written
    std::vector<std::byte> stored_;
};

} // namespace sextant

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
