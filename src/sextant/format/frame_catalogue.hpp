// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/frame_source.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::format {

/// The axis that frames follow one another on.
enum class StackAxis { time, slices };

/// How the frames of a file are described, for formats that name their axes.
struct SinkOptions {
    StackAxis axis = StackAxis::time;
};

/// Which channel and slice of a hyperstack are read, counted from 0; the first ones if not set.
struct SourceOptions {
    std::optional<std::int64_t> channel = {}, slice = {};
    /// Whether samples may come from any file that the series names (HDF5).
    bool allow_external = false;
};

/// One file format that holds frames of grey or colour samples, one or many: one file of code and
/// one row of the catalogue.
struct FrameFormat {
    std::string_view name;       ///< "TIFF"
    std::string_view extensions; ///< ".tif .tiff": how it is recognised, in upper or lower case
    std::string_view summary;
    /// Reads the header only. `detail` is what the user wrote behind "::", "" for nothing. Throws
    /// InvalidFile, naming the path, what was found and what was expected. Formats without named
    /// axes ignore the channel and slice of the options.
    std::unique_ptr<FrameSource> (*open)(const std::string& path, const std::string& detail,
                                         const SourceOptions& options);
    /// A sink for `header.frames` frames of grey samples. Throws InvalidFile, also for samples that
    /// the format does not hold. Null where the format is only read.
    std::unique_ptr<FrameSink> (*create)(const std::string& path, const FrameHeader& header,
                                         const SinkOptions& options) = nullptr;
    std::string_view written = {}; ///< the samples that `create` takes: "u8 u16 f32"
};

/// Every format of frames, in the order of `sextant list formats`.
std::span<const FrameFormat> frame_catalogue();

/// The row that has the extension of a path, or null.
const FrameFormat* find_frame_format(const std::string& path);

/// A series of frames by its name:
///   movie.mrc                  a file of frames
///   movie.h5::/data/images     a dataset in it; of a headerless file its layout
///   folder, frame_*.png, frame_%04d.tif, frames.txt
///                              a file a frame, in natural order (frame_9 before frame_10); a list
///                              has a path a line, relative to its folder
/// Throws InvalidFile, naming path, what was found and what was expected; also for a channel or
/// slice that the series does not have.
std::unique_ptr<FrameSource> open_frames(const std::string& name,
                                         const SourceOptions& options = {});

/// The files behind such a name.
std::vector<std::string> files_of_frames(const std::string& name);

/// What a series that open_frames opens is kept in: "TIFF", or "files of PNG".
std::string format_of_frames(const std::string& name);

/// A sink of the format that the extension of `path` names. Throws InvalidFile.
std::unique_ptr<FrameSink> create_frames(const std::string& path, const FrameHeader& header,
                                         const SinkOptions& options = {});

/// Files that hold a frame each, in order.
struct FrameFiles {
    std::vector<std::string> paths;
    std::vector<std::string> remarks;
};

/// The files behind a name that stands for several: a folder, a pattern with * ? or [, a number
/// such as %04d, or a list with the extension .txt. Nothing where the name is that of one file.
/// Throws InvalidFile where there are none, or where a folder holds files of several formats.
std::optional<FrameFiles> find_frame_files(const std::string& name);

/// Whether `a` comes before `b` where numbers within are compared as numbers: "frame_9" before
/// "frame_10".
bool naturally_before(std::string_view a, std::string_view b);

/// Files of one frame each as a series, each opened when it is read. Shape, samples and pixel size
/// are those of the first.
///
/// Requires  that the files are of known formats (InvalidFile, named on opening), and that each
///           holds one frame like the first (InvalidFile, where that frame is read).
std::unique_ptr<FrameSource> open_sequence(const std::string& name, FrameFiles files,
                                           const SourceOptions& options);

} // namespace sextant::format
