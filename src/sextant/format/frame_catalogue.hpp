// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/frame_source.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::format {

/// How a file of frames is laid out, for formats that leave a choice.
struct SinkOptions {
    std::int64_t tile = 0; ///< side of square tiles, a multiple of 16; 0 for strips
    bool operator==(const SinkOptions&) const = default;
};

/// One file format that holds frames of grey or colour samples, one or many: one file of code and
/// one row of the catalogue.
struct FrameFormat {
    std::string_view name;       ///< "TIFF"
    std::string_view extensions; ///< ".tif .tiff": how it is recognised, in upper or lower case
    std::string_view summary;
    /// Reads the header only. `detail` is what the user wrote behind "::", "" for nothing. Throws
    /// InvalidFile, naming the path, what was found and what was expected.
    std::unique_ptr<FrameSource> (*open)(const std::string& path, const std::string& detail);
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
/// Throws InvalidFile, naming path, what was found and what was expected.
std::unique_ptr<FrameSource> open_frames(const std::string& name);

/// The files behind such a name.
std::vector<std::string> files_of_frames(const std::string& name);

/// What a series that open_frames opens is kept in: "TIFF", or "files of PNG".
std::string format_of_frames(const std::string& name);

/// A sink of the format that the extension of `path` names. Throws InvalidFile.
std::unique_ptr<FrameSink> create_frames(const std::string& path, const FrameHeader& header,
                                         const SinkOptions& options = {});

} // namespace sextant::format
