// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"

#include <span>
#include <string>
#include <string_view>

namespace sextant::format {

/// What a file says it holds, known without reading its pixels.
struct ImageHeader {
    ImageShape shape;
    /// rgba_f32; rgba_depth_f32 where the file has a depth channel; deep_f32 where its pixels are
    /// lists, which read_deep reads
    ElementFormat element;
    bool operator==(const ImageHeader&) const = default;
};

/// One image file format: one file of code and one row of the catalogue.
struct Format {
    std::string_view name;      ///< "OpenEXR"
    std::string_view extension; ///< ".exr": how it is recognised, in upper or lower case
    std::string_view summary;
    /// Throws InvalidFile, naming the path, what was found and what was expected.
    ImageHeader (*read_header)(const std::string& path);
    /// Reads the pixels, premultiplied, row 0 on top, into `to` (shape.elements() of the header's
    /// element). Throws InvalidFile, also where the file holds something else than `header`, which
    /// leaves `to` in any state; std::logic_error where `to` has another size.
    void (*read_pixels)(const std::string& path, const ImageHeader& header,
                        std::span<std::byte> to);
    /// Writes beside the path and renames, so that a failure leaves nothing behind and never harms
    /// a file that was there. Throws InvalidFile. Null where the format is only read.
    void (*write)(const std::string& path, const Image& image);
    bool halves =
        false; ///< whether `write` takes rgba_f16 too, besides floats with and without depth
    /// Whether its values are encoded for display (sRGB); others hold linear ones.
    bool for_display = false;
    /// The same for deep images; null where the format has none.
    DeepImage (*read_deep)(const std::string& path) = nullptr;
    void (*write_deep)(const std::string& path, const DeepImage& image) = nullptr;
};

/// Every format, in the order of `sextant list`.
std::span<const Format> catalogue();

/// The format of a path by its extension. Throws InvalidFile naming the known extensions.
const Format& format_of(const std::string& path);

/// Whether a path ends in an extension such as ".exr", in upper or lower case.
bool has_extension(std::string_view path, std::string_view extension);

/// These find the format of the path and do as its row does.
ImageHeader read_header(const std::string& path);
void read_pixels(const std::string& path, const ImageHeader& header, std::span<std::byte> to);
/// Throws InvalidFile, also where the pixels do not fit in memory.
Image read_image(const std::string& path);
/// Throws InvalidFile, also where the format of `path` cannot be written or cannot hold the image.
void write_image(const std::string& path, const Image& image);
/// Deep images. Throw InvalidFile, also where the format of `path` has none, where the file is
/// flat, and where an image is at fault (fault_of).
DeepImage read_deep(const std::string& path);
void write_deep(const std::string& path, const DeepImage& image);

} // namespace sextant::format
