// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/frame_catalogue.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/format/frame_files.hpp"
#include "sextant/format/frame_sequence.hpp"
#include "sextant/format/tiff.hpp"

#include <array>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace sextant::format {

namespace {

constexpr std::array formats{
    FrameFormat{"TIFF", ".tif .tiff .btf",
                "stacks, BigTIFF, strips or tiles, integers and floats; pixel size of ImageJ, OME",
                open_tiff, create_tiff, "u8 u16 f32"},
};

/// Calls `visit` with each of the words of a text until it returns true. Returns whether it did.
template <class Visit>
bool any_word(std::string_view text, const Visit& visit) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        if (visit(text.substr(0, end)))
            return true;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return false;
}

const FrameFormat& format_of_frames(const std::string& path) {
    if (const FrameFormat* const format = find_frame_format(path))
        return *format;
    std::string known;
    for (const FrameFormat& format : formats)
        known += (known.empty() ? "" : " ") + std::string(format.extensions);
    const std::string extension = std::filesystem::path(path).extension().string();
    throw InvalidFile(path, fmt::format("is of no known format of frames: its extension is \"{}\", "
                                        "expected one of {}",
                                        extension, known));
}

struct Name {
    std::string path, detail;
};

/// What stands behind "::" names a part of the file, unless a file has such a name.
Name split(const std::string& name) {
    const std::size_t at = name.rfind("::");
    std::error_code unknown;
    if (at == std::string::npos || std::filesystem::exists(name, unknown))
        return {name, ""};
    return {name.substr(0, at), name.substr(at + 2)};
}

} // namespace

std::span<const FrameFormat> frame_catalogue() {
    return formats;
}

const FrameFormat* find_frame_format(const std::string& path) {
    for (const FrameFormat& format : formats) {
        if (any_word(format.extensions,
                     [&](std::string_view extension) { return has_extension(path, extension); }))
            return &format;
    }
    return nullptr;
}

std::unique_ptr<FrameSource> open_frames(const std::string& name) {
    const Name parts = split(name);
    if (parts.detail.empty()) {
        if (auto files = find_frame_files(name))
            return open_sequence(name, std::move(*files));
    }
    return format_of_frames(parts.path).open(parts.path, parts.detail);
}

std::unique_ptr<FrameSink> create_frames(const std::string& path, const FrameHeader& header,
                                         const SinkOptions& options) {
    const FrameFormat& format = format_of_frames(path);
    if (!format.create)
        throw InvalidFile(path, fmt::format("{} files are only read", format.name));
    return format.create(path, header, options);
}

} // namespace sextant::format
