// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"
#include "sextant/core/frame_source.hpp"
#include "sextant/core/sample.hpp"
#include "sextant/report/recording.hpp"

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::command {

/// "-" in place of a file that text goes to.
inline constexpr std::string_view standard_output = "-";

/// The files that these parameters name, of those that were given.
std::vector<std::string> files_given(const Values& values,
                                     std::initializer_list<const char*> parameters);

/// Throws InvalidTask unless a picture can be written under that name: its ending is of a format
/// that is written. Whether the format can hold the pixels shows when it is written.
void check_picture_name(const std::string& path);

/// The same for frames of such samples.
void check_frames_name(const std::string& path, Sample sample);

/// Samples that frames under that name are written as: f32, or f64 where an offset was taken off
/// (core/frame_source.hpp) and the format holds these, so that it can be added again.
Sample sample_with_offset(const std::string& path, double offset);

/// What users must know of an offset of a source, and of results under that name; "" for none.
std::string offset_remark(double offset, const std::string& path);

/// Throws InvalidTask where two of these would go to the same place.
void require_distinct(std::span<const std::string> paths);

/// Throws InvalidTask where an output would take the place of a file that is read: what was
/// measured would be gone.
void keep_inputs(std::span<const std::string> inputs, std::span<const std::string> outputs);

/// Throws InvalidTask where two outputs would go to the same place, and InvalidFile where one could
/// not be written now: to be called before the work whose results they take. `trace`: the one
/// of them that goes to `write_trace`; empty: none does.
void check_outputs(std::span<const std::string> paths, const std::string& trace = "");

/// A line each, on standard error.
void print_warnings(std::span<const std::string> warnings);
/// The same of one note that is no warning.
void print_note(std::string_view note);
/// Lines for people on standard output; what a terminal would obey is escaped.
void print_text(std::string_view text);

/// What a source remarks on, a line each, on standard error.
void print_remarks(const FrameSource& source);

/// Writes a text whole to a file, or to standard output. Throws InvalidFile.
void write_text(const std::string& path, std::string_view text);

/// What ranks did: an archive where its name ends in .otf2, else JSON. Throws InvalidFile.
void write_trace(const std::string& path, const report::Recording& recording);

} // namespace sextant::command
