// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/format.hpp"

#include <memory>
#include <span>
#include <string>

namespace sextant::format {

/// Reads raw pixels: little-endian floats, premultiplied, top row first, without a header; ".zst"
/// files are compressed by zstd. read_raw_header takes shape and element from "manifest.json" in
/// the same folder (docs/manifest.md), which need not list the file. Callers with a header from
/// elsewhere, such as a manifest of another name, pass it to read_raw.
///
/// Requires  a file of exactly the size of the header's pixels; an extension ".rgba32f" or
///           ".rgbaz32f" (before ".zst"), if present, must match the element; otherwise throws
///           InvalidFile.
ImageHeader read_raw_header(const std::string& path);
/// Returns the manifest from which read_raw_header takes the shape; "" if `path` is not a file of
/// raw pixels.
std::string manifest_beside(const std::string& path);
void read_raw(const std::string& path, const ImageHeader& header, std::span<std::byte> to);

/// Writes only the pixels; the caller writes the manifest.
void write_raw(const std::string& path, const Image& image);

/// Opens samples without a header. The name states their layout, as in "movie.raw::512x510,u16".
/// Optional parts are ",offset=1024" (bytes before the first frame), ",frames=20" (default: all
/// complete frames) and ",big-endian".
std::unique_ptr<FrameSource> open_headerless(const std::string& path, const SourceOptions& options);

} // namespace sextant::format
