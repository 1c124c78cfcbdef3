// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/core/record.hpp"
#include "sextant/registration/transform/canvas.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

// The stack of aligned frames that `sextant register` writes.
namespace sextant::command {

/// Options for the aligned stack.
struct AlignedChoice {
    std::string when = "auto";      ///< "auto", "on", "off", or the file to write
    std::optional<double> gap = {}; ///< sample at pixels without data; see gap_of()

    /// Returns true if `when` is a file.
    bool is_file() const;
};
/// Declares `--aligned[=WHEN]` and `--gap`.
Record record_of(AlignedChoice& choice);

/// Returns the sample type for a file: `sample` itself, or the smallest type that the format
/// supports and that represents all values of `sample`; f32 if there is none.
Sample sample_in_file(const std::string& path, Sample sample);

/// An aligned stack. It is planned before frames are registered, and completed when it is written.
struct AlignedStack {
    std::string path; ///< empty if no stack is written
    Sample sample = Sample::f32;
    double gap = 0;      ///< sample at pixels without data
    Bytes bytes = 0;     ///< size if all frames have the area of the reference
    std::string omitted; ///< reason why `auto` writes no stack, and how to request one
    std::int64_t frames = 0;
    registration::PixelArea area; ///< the canvas, in the coordinates of the reference
};

/// The maximum size of a stack that is written without being requested.
inline constexpr Bytes largest_default_stack = Bytes{2} << 30;

/// Plans the stack for a series: its file and its sample type. The sample type is that of the
/// series, or the smallest type that the file's format supports and that represents all values of
/// the series' type; f32 if there is none.
///
/// Throws    InvalidTask if the file name has no format for stacks, or `--gap` is not a value of
///           the sample type.
AlignedStack plan_aligned(const AlignedChoice& choice, const std::string& usual_path,
                          const FrameHeader& series);

/// Sets the area and the number of frames of a planned stack. Cancels the stack if it is then too
/// large to be written without being requested.
void settle_aligned(AlignedStack& stack, const AlignedChoice& choice,
                    const registration::PixelArea& area, std::int64_t frames);

/// Returns labels for the frames of a stack: "frame 17" or, if frames are not evenly spaced and
/// their interval is known, with the time of the frame: "frame 17, 3.4 s".
std::vector<std::string> labels_of(const FrameHeader& series, std::span<const std::int64_t> frames);

/// Converts registered samples for a stack: adds the offset of the series, rounds to nearest (ties
/// to even) and clamps for integer samples, and replaces NaN with `gap`. Floats other than f64 are
/// stored without the offset (array/frame_source.hpp).
///
/// Requires  as many samples as floats (std::logic_error).
void to_stack_samples(Sample sample, double offset, double gap, std::span<const float> from,
                      std::span<std::byte> to);

/// Writes the frames of a planned stack, one after another.
class AlignedWriter {
  public:
    /// Creates the file. Requires that `stack.area` and `stack.frames` are set.
    AlignedWriter(const AlignedStack& stack, const FrameHeader& series,
                  std::span<const std::int64_t> frames, double offset);

    /// Appends rows of the area of the stack: all rows of the first frame, then of the second one,
    /// and so on.
    void write(std::span<const float> rows);
    /// Returns the sink, which the caller commits.
    std::unique_ptr<FrameSink> finish() { return std::move(sink_); }

  private:
    const AlignedStack& stack_;
    double offset_;
    float added_ = 0; ///< offset to add to floats
    std::vector<float> sums_;
    std::vector<std::byte> samples_;
    std::unique_ptr<FrameSink> sink_;
};

} // namespace sextant::command
