// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/frame_catalogue.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/format/dm.hpp"
#include "sextant/format/frame_files.hpp"
#include "sextant/format/frame_sequence.hpp"
#include "sextant/format/hdf5.hpp"
#include "sextant/format/headerless.hpp"
#include "sextant/format/jpeg_frame.hpp"
#include "sextant/format/mrc.hpp"
#include "sextant/format/npy.hpp"
#include "sextant/format/png_frame.hpp"
#include "sextant/format/ser.hpp"
#include "sextant/format/tiff.hpp"

#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace sextant::format {

namespace {

constexpr std::array formats{
    FrameFormat{"TIFF", ".tif .tiff .btf",
                "stacks, BigTIFF, strips or tiles, integers and floats; axes of ImageJ and OME",
                open_tiff, create_tiff, "u8 u16 u32 f32"},
    FrameFormat{"MRC", ".mrc .mrcs .map .st .ali .rec .ccp4",
                "stacks and volumes, modes 0, 1, 2, 6, 12, extended header, both byte orders",
                open_mrc, create_mrc, "i8 i16 u16 f16 f32"},
    FrameFormat{"DigitalMicrograph", ".dm3 .dm4", "the largest image; further axes are frames",
                open_dm},
    FrameFormat{"SER", ".ser", "series of images by TIA", open_ser},
    FrameFormat{"NPY", ".npy", "NumPy arrays: frames, rows, columns, in any order", open_npy,
                create_npy, "any"},
    FrameFormat{"HDF5", ".h5 .hdf5 .emd .hspy",
                "EMD of Velox and Berkeley, HyperSpy, or a dataset: movie.h5::/images", open_hdf5},
    FrameFormat{"PNG", ".png", "a frame, grey or colour, 8 or 16 bits", open_png_frame,
                create_png_frame, "u8 u16"},
    FrameFormat{"JPEG", ".jpg .jpeg", "a frame, grey or colour", open_jpeg_frame},
    FrameFormat{"headerless", ".raw .bin", "its layout behind the name: movie.raw::512x512,u16",
                open_headerless},
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

const FrameFormat& known_format(const std::string& path) {
    if (const FrameFormat* const format = find_frame_format(path))
        return *format;
    std::string known;
    for (const FrameFormat& format : formats)
        known += fmt::format("{}{}", known.empty() ? "" : " ", format.extensions);
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

std::unique_ptr<FrameSource> open_named(const std::string& name, const SourceOptions& options) {
    const Name parts = split(name);
    if (parts.detail.empty()) {
        if (auto files = find_frame_files(name))
            return open_sequence(name, std::move(*files), options);
    }
    std::error_code unknown; // a name may be wrong altogether, not only in how it ends
    if (!find_frame_format(parts.path) && !parts.path.empty() &&
        !std::filesystem::exists(parts.path, unknown))
        throw InvalidFile(parts.path, "does not exist");
    return known_format(parts.path).open(parts.path, parts.detail, options);
}

/// Formats without named axes have one channel and one slice.
void require_plane(const std::string& name, std::string_view axis, std::int64_t wanted,
                   std::int64_t read) {
    if (wanted != read)
        throw InvalidFile(name,
                          fmt::format("has no {0} {1}, expected {0} {2}", axis, wanted, read));
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

std::unique_ptr<FrameSource> open_frames(const std::string& name, const SourceOptions& options) {
    auto source = open_named(name, options);
    const Hyperstack& read = source->header().hyperstack;
    require_plane(name, "channel", options.channel.value_or(0), read.channel);
    require_plane(name, "slice", options.slice.value_or(0), read.slice);
    return source;
}
std::vector<std::string> files_of_frames(const std::string& name) {
    const Name parts = split(name);
    if (parts.detail.empty()) {
        if (auto files = find_frame_files(name))
            return std::move(files->paths);
    }
    return {parts.path};
}

std::string format_of_frames(const std::string& name) {
    const Name parts = split(name);
    if (const auto files = find_frame_files(parts.path))
        return fmt::format("files of {}", known_format(files->paths.front()).name);
    return std::string(known_format(parts.path).name);
}

std::unique_ptr<FrameSink> create_frames(const std::string& path, const FrameHeader& header,
                                         const SinkOptions& options) {
    const FrameFormat& format = known_format(path);
    if (!format.create)
        throw InvalidFile(path, fmt::format("{} files are only read", format.name));
    return format.create(path, header, options);
}

} // namespace sextant::format
