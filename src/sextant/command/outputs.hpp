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

/// Returns those of the given names that are not empty.
std::vector<std::string> files_named(std::initializer_list<std::string> names);

/// Throws InvalidTask unless the extension is that of an image format that can be written. Whether
/// the format can hold the pixels is checked on writing.
void check_picture_name(const std::string& path);

/// Throws InvalidTask unless the extension is that of a frame format that can be written with
/// samples of this type.
void check_frames_name(const std::string& path, Sample sample);

/// True if the extension is that of a frame format that can be written with samples of this type.
bool can_write_frames(const std::string& path, Sample sample);

/// The sample type for writing frames that were computed from samples of another type: f64 if the
/// format has it and the samples are f64, or of 32 or 64 bits other than f32 and less an offset
/// (array/frame_source.hpp), so that it can be added again; otherwise f32.
Sample computed_sample(const std::string& path, Sample from, double offset);

/// A remark on the offset subtracted from a source, and whether it is added again to results
/// written to `path`; "" if there is no offset.
std::string offset_remark(double offset, const std::string& path);

/// Throws InvalidTask if two paths are the same file.
void require_distinct(std::span<const std::string> paths);

/// Throws InvalidTask if an output would overwrite an input, such as the measured data.
void keep_inputs(std::span<const std::string> inputs, std::span<const std::string> outputs);

/// Checks the outputs before long work, first as keep_inputs(): throws InvalidTask if two outputs
/// are the same file, and InvalidFile if one cannot be written.
void check_outputs(std::span<const std::string> outputs, std::span<const std::string> inputs = {});

/// While an object of this class exists, it collects what commands print on its thread, and nothing
/// is printed. For programs that run commands as functions.
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

/// Prints warnings on standard error, one per line; empty ones are left out.
void print_warnings(std::span<const std::string> warnings);
void print_warning(const std::string& warning);
/// Prints a note, which is not a warning, on standard error.
void print_note(std::string_view note);
/// Prints to standard output; control characters are escaped.
void print_text(std::string_view text);

/// Prints the remarks of a source on standard error, one per line.
void print_remarks(const FrameSource& source);

/// Writes a text to a file (completely or not at all), or to standard output. Throws InvalidFile.
void write_text(const std::string& path, std::string_view text);

/// Writes a trace as JSON. Throws InvalidFile.
void write_trace(const std::string& path, const report::Recording& recording);

} // namespace sextant::command
