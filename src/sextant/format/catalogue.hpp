// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"

#include <span>
#include <string>
#include <string_view>

namespace sextant::format {

/// The header of an image file, read without its pixels.
struct ImageHeader {
    ImageShape shape;
    /// rgba_f32; rgba_depth_f32 if the file has a depth channel; deep_f32 if it is deep
    /// (read_deep).
    ElementFormat element;
    bool operator==(const ImageHeader&) const = default;
};

/// An image file format: a row of the catalogue.
struct Format {
    std::string_view name;      ///< such as "OpenEXR"
    std::string_view extension; ///< such as ".exr", in upper or lower case
    std::string_view summary;
    /// Throws InvalidFile with the path, what was found and what was expected.
    ImageHeader (*read_header)(const std::string& path);
    /// Reads the pixels, premultiplied, top row first, into `to` (shape.elements() elements of the
    /// header's format). Throws InvalidFile if the file is damaged or no longer matches `header`;
    /// the contents of `to` are then unspecified. Throws std::logic_error if `to` has the wrong
    /// size.
    void (*read_pixels)(const std::string& path, const ImageHeader& header,
                        std::span<std::byte> to);
    /// Writes a temporary file and renames it, so that a failure leaves nothing behind and an
    /// existing file intact. Throws InvalidFile. Null if the format is read-only.
    void (*write)(const std::string& path, const Image& image);
    bool halves = false; ///< true if `write` also accepts rgba_f16
    /// True if values are encoded for display (sRGB), false if they are linear.
    bool for_display = false;
    /// Read and write deep images in the same way; null if the format cannot hold them.
    DeepImage (*read_deep)(const std::string& path) = nullptr;
    void (*write_deep)(const std::string& path, const DeepImage& image) = nullptr;
};

/// Returns all formats, in the order of `sextant list`.
std::span<const Format> catalogue();

/// Returns the format for a path's extension. If there is none, throws InvalidFile that lists the
/// known extensions.
const Format& format_of(const std::string& path);

/// True if a path ends in an extension such as ".exr", in upper or lower case.
bool has_extension(std::string_view path, std::string_view extension);

/// Each of these functions calls the one of the same name for the path's format.
ImageHeader read_header(const std::string& path);
void read_pixels(const std::string& path, const ImageHeader& header, std::span<std::byte> to);
/// Throws InvalidFile if the file cannot be read, or if its pixels do not fit in memory.
Image read_image(const std::string& path);
/// Throws InvalidFile if the file cannot be written, or if the format of `path` is read-only or
/// cannot hold the image.
void write_image(const std::string& path, const Image& image);
/// Read and write deep images. Throw InvalidFile if reading or writing fails, if the format of
/// `path` cannot hold deep images, if the file is flat, or if an image is invalid (fault_of).
DeepImage read_deep(const std::string& path);
void write_deep(const std::string& path, const DeepImage& image);

} // namespace sextant::format
