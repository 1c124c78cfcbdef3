// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/catalogue.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format/exr.hpp"
#include "sextant/format/png.hpp"
#include "sextant/format/raw.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <new>

#include <fmt/format.h>

namespace sextant::format {

namespace {

constexpr std::array formats{
    Format{"OpenEXR", ".exr",
           "premultiplied half or float RGBA, linear by convention, with depth if there is a Z "
           "channel; deep images",
           read_exr_header, read_exr, write_exr, true, false, read_exr_deep, write_exr_deep},
    Format{"PNG", ".png",
           "8 or 16 bits per channel, straight alpha, values as stored (sRGB by convention); "
           "written with 8 bits",
           read_png_header, read_png, write_png, false, true},
    Format{"raw RGBA", ".rgba32f",
           "little-endian floats; manifest.json in the same folder states the shape",
           read_raw_header, read_raw, write_raw},
    Format{"raw RGBA+depth", ".rgbaz32f", "raw RGBA with a depth after each colour",
           read_raw_header, read_raw, write_raw},
    Format{"zstd", ".zst", "one of the raw formats, compressed", read_raw_header, read_raw,
           write_raw},
};

std::string known_extensions() {
    std::string known;
    for (const Format& format : formats) {
        known += (known.empty() ? "" : ", ") + std::string(format.extension);
    }
    return known;
}

} // namespace

std::span<const Format> catalogue() {
    return formats;
}

bool has_extension(std::string_view path, std::string_view extension) {
    const auto same = [](unsigned char a, unsigned char b) {
        return std::tolower(a) == std::tolower(b);
    };
    return path.size() > extension.size() &&
           std::equal(extension.begin(), extension.end(), path.end() - extension.size(), same);
}

const Format& format_of(const std::string& path) {
    for (const Format& format : formats) {
        if (has_extension(path, format.extension))
            return format;
    }
    const std::string extension = std::filesystem::path(path).extension().string();
    throw InvalidFile(
        path,
        fmt::format("is not of a known image format: its extension is \"{}\", expected one of {}",
                    extension, known_extensions()));
}

ImageHeader read_header(const std::string& path) {
    return format_of(path).read_header(path);
}

void read_pixels(const std::string& path, const ImageHeader& header, std::span<std::byte> to) {
    format_of(path).read_pixels(path, header, to);
}

Image read_image(const std::string& path) {
    const Format& format = format_of(path);
    const ImageHeader header = format.read_header(path);
    try {
        Image image(header.shape, header.element);
        format.read_pixels(path, header, image.bytes());
        return image;
    } catch (const std::bad_alloc&) {
        throw InvalidFile(
            path, fmt::format("needs {} bytes for its {}×{} pixels, more memory than available",
                              header.shape.elements() * header.element.size, header.shape.width,
                              header.shape.height));
    }
}

void write_image(const std::string& path, const Image& image) {
    const Format& format = format_of(path);
    if (!format.write) {
        throw InvalidFile(path, fmt::format("{} files can only be read", format.name));
    }
    format.write(path, image);
}

namespace {

const Format& deep_format_of(const std::string& path) {
    const Format& format = format_of(path);
    if (!format.read_deep)
        throw InvalidFile(path, fmt::format("{} files cannot hold deep images", format.name));
    return format;
}

void require_faultless(const std::string& path, const DeepImage& image) {
    const std::string fault = fault_of(image);
    if (!fault.empty())
        throw InvalidFile(path, fault);
}

} // namespace

DeepImage read_deep(const std::string& path) {
    DeepImage image = deep_format_of(path).read_deep(path);
    require_faultless(path, image);
    return image;
}

void write_deep(const std::string& path, const DeepImage& image) {
    const Format& format = deep_format_of(path);
    require_faultless(path, image);
    format.write_deep(path, image);
}

} // namespace sextant::format
