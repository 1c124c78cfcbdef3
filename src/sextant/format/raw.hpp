// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/catalogue.hpp"
#include "sextant/format/frame_catalogue.hpp"

#include <memory>
#include <span>
#include <string>

namespace sextant::format {

/// Raw pixels: little-endian floats, premultiplied, row 0 on top, nothing else; ".zst" files hold
/// them compressed by zstd. Such a file says nothing of its shape or channels: read_raw_header
/// takes them from "manifest.json" in the same folder (docs/manifest.md), whether or not that lists
/// the file. Who knows the header from elsewhere, such as a manifest of another name, calls
/// read_raw with it.
///
/// Requires  exactly the bytes of the header's pixels, and an ending ".rgba32f" or ".rgbaz32f", if
///           there is one (before ".zst"), that agrees with the element; otherwise InvalidFile.
ImageHeader read_raw_header(const std::string& path);
void read_raw(const std::string& path, const ImageHeader& header, std::span<std::byte> to);

/// Writes the pixels alone; the manifest is up to the caller.
void write_raw(const std::string& path, const Image& image);

/// Samples without a header. What they are is written behind the name, such as
/// "movie.raw::512x510,u16" with, where they apply, ",offset=1024" (bytes in front of the first
/// frame), ",frames=20" (else as many as are whole) and ",big-endian".
std::unique_ptr<FrameSource> open_headerless(const std::string& path, const std::string& detail,
                                             const SourceOptions& options);

} // namespace sextant::format
