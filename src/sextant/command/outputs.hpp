// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/array/sample.hpp"
#include "sextant/report/recording.hpp"

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::command {

/// A file name that means standard output.
inline constexpr std::string_view standard_output = "-";

/// Returns the names that are not empty.
std::vector<std::string> files_named(std::initializer_list<std::string> names);

/// Throws InvalidTask unless the extension is that of an image format that can be written. Whether
/// the format supports the pixel type is checked when the image is written.
void check_picture_name(const std::string& path);

/// Throws InvalidTask unless the extension is that of a frame format that can be written with
/// samples of this type.
void check_frames_name(const std::string& path, Sample sample);

/// Returns true if the extension is that of a frame format that can be written with samples of this
/// type.
bool can_write_frames(const std::string& path, Sample sample);

/// Returns the sample type for writing frames that were computed from samples of type `from`. The
/// result is f64 if the format supports f64 and either `from` is f64, or `from` has 32 or 64 bits,
/// is not f32, and an offset was subtracted (array/frame_source.hpp), which is then added again;
/// otherwise f32.
Sample computed_sample(const std::string& path, Sample from, double offset);

/// Returns a remark on the offset that was subtracted from a source and, for results written to
/// `path`, whether it is added again; "" if there is no offset.
std::string offset_remark(double offset, const std::string& path);

/// Throws InvalidTask if two paths refer to the same file.
void require_distinct(std::span<const std::string> paths);

/// Throws InvalidTask if an output would overwrite an input, such as the measured data.
void keep_inputs(std::span<const std::string> inputs, std::span<const std::string> outputs);

/// Checks the outputs before a long computation. Performs the checks of keep_inputs(), then throws
/// InvalidTask if two outputs are the same file, and InvalidFile if one cannot be written.
void check_outputs(std::span<const std::string> outputs, std::span<const std::string> inputs = {});

/// Captures the text that commands print on the current thread during the lifetime of this object;
/// nothing is printed. For programs that call commands as functions.
class PrintedText {
  public:
    PrintedText();
    ~PrintedText();
    PrintedText(const PrintedText&) = delete;
    PrintedText& operator=(const PrintedText&) = delete;

    std::string text;               ///< for standard output
    std::vector<std::string> notes; ///< for standard error, without "sextant: "

  private:
    PrintedText* outer_;
};

/// Prints warnings to standard error, one per line; skips empty ones.
void print_warnings(std::span<const std::string> warnings);
void print_warning(const std::string& warning);
/// Prints a note, which is not a warning, to standard error.
void print_note(std::string_view note);
/// Prints to standard output, with control characters escaped.
void print_text(std::string_view text);

/// Prints the remarks of a source to standard error, one per line.
void print_remarks(const FrameSource& source);

/// Writes a text to standard output or to a file, which is written completely or not at all. Throws
/// InvalidFile.
void write_text(const std::string& path, std::string_view text);

/// Writes a trace as JSON. Throws InvalidFile.
void write_trace(const std::string& path, const report::Recording& recording);

} // namespace sextant::command
