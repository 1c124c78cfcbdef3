// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/error.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/formats.hpp"
#include "sextant/format/frame_sources.hpp"
#include "sextant/format/source_file.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant::format {

namespace {

constexpr std::int16_t little_endian = 0x4949;
constexpr std::int16_t series = 0x0197;
constexpr std::int16_t version_of_64_bits = 0x0220;
constexpr std::int32_t images = 0x4122;

/// An image header has two doubles and an integer per axis, the sample type, and two sizes. The
/// samples follow the header.
constexpr std::size_t image_header_bytes = 50;
using ImageHead = std::array<std::byte, image_header_bytes>;

struct Series {
    std::int64_t total = 0;   ///< number of planned images
    std::int64_t valid = 0;   ///< number of acquired images
    Bytes offsets = 0;        ///< position of the table of image positions
    std::size_t offset_bytes; ///< bytes per position
};

Series read_series(SourceFile& file) {
    std::array<std::byte, 30> header{};
    const Bytes got = file.read_at(0, header);
    const auto is = [&](std::size_t at, std::int16_t value) {
        return number_in<std::int16_t>(header, at, false) == value;
    };
    if (got < static_cast<Bytes>(header.size()) || !is(0, little_endian) || !is(2, series))
        throw InvalidFile(file.path(), "is not a SER file: its signature is wrong");
    const auto kind = number_in<std::int32_t>(header, 6, false);
    if (kind != images) {
        throw InvalidFile(file.path(),
                          fmt::format("holds elements of kind {:#x}, expected images of kind {:#x}",
                                      kind, images));
    }
    const bool wide = is(4, version_of_64_bits);
    return {number_in<std::int32_t>(header, 14, false), number_in<std::int32_t>(header, 18, false),
            wide ? number_in<std::int64_t>(header, 22, false)
                 : number_in<std::int32_t>(header, 22, false),
            wide ? 8U : 4U};
}

/// Returns the positions of the image headers; fewer than stated if the table of positions is
/// truncated.
std::vector<Bytes> read_offsets(SourceFile& file, const Series& stated) {
    const auto size = static_cast<Bytes>(stated.offset_bytes);
    const Bytes room = stated.offsets < 0 ? 0 : file.size() - stated.offsets;
    if (stated.valid < 1 || room < size)
        throw InvalidFile(file.path(), "has no images, or no table of their offsets");
    const std::int64_t count = std::min(stated.valid, room / size);
    std::vector<std::byte> table(static_cast<std::size_t>(count * size));
    file.read_at(stated.offsets, table);
    std::vector<Bytes> offsets;
    for (std::size_t at = 0; at < table.size(); at += stated.offset_bytes) {
        offsets.push_back(stated.offset_bytes == 8
                              ? number_in<std::int64_t>(table, at, false)
                              : Bytes{number_in<std::uint32_t>(table, at, false)});
    }
    return offsets;
}

std::optional<Sample> sample_of_ser(int type) {
    constexpr std::array samples{Sample::u8,  Sample::u16, Sample::u32, Sample::i8,
                                 Sample::i16, Sample::i32, Sample::f32, Sample::f64};
    if (type < 1 || type > static_cast<int>(samples.size()))
        return std::nullopt;
    return samples[static_cast<std::size_t>(type - 1)];
}

/// Reads the header of an image; empty if the file ends before or inside it.
std::optional<FrameHeader> read_image(SourceFile& file, Bytes offset) {
    ImageHead head{};
    if (offset < 0 || offset > file.size() ||
        file.read_at(offset, head) < static_cast<Bytes>(head.size()))
        return std::nullopt;
    const auto type = number_in<std::int16_t>(head, 40, false);
    const std::optional<Sample> sample = sample_of_ser(type);
    if (!sample) {
        throw InvalidFile(
            file.path(),
            fmt::format("has samples of SER type {}, expected real numbers of type 1 to 8", type));
    }
    FrameHeader image;
    image.shape = {number_in<std::int32_t>(head, 42, false),
                   number_in<std::int32_t>(head, 46, false)};
    image.sample = *sample;
    image.pixel = {number_in<double>(head, 8, false), number_in<double>(head, 28, false), "m"};
    return image;
}

} // namespace

std::unique_ptr<FrameSource> open_ser(const std::string& path, const SourceOptions&) {
    SourceFile file(path);
    const Series stated = read_series(file);
    std::vector<Bytes> starts;
    std::vector<FrameHeader> each;
    for (const Bytes offset : read_offsets(file, stated)) {
        const auto image = read_image(file, offset);
        if (!image)
            break;
        each.push_back(*image);
        starts.push_back(offset + static_cast<Bytes>(image_header_bytes));
    }
    if (each.empty())
        throw InvalidFile(path, "ends before its first image: truncated");
    FrameHeader header = each.front();
    header.frames = stated.valid;
    header.stated_frames = stated.total;
    checked_frames(path, header);
    header.pixel = believable(header.pixel, header.remarks);
    if (stated.valid < stated.total) {
        header.remarks.push_back(
            fmt::format("recording stopped after {} of {} images", stated.valid, stated.total));
    }
    return stored_pages(std::move(file), std::move(header), std::move(starts), std::move(each),
                        false);
}

} // namespace sextant::format
