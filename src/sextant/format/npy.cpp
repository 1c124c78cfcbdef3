// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/error.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/frame_formats.hpp"
#include "sextant/format/frame_sources.hpp"
#include "sextant/format/npy_header.hpp"
#include "sextant/format/source_file.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant::format {

namespace {

constexpr std::string_view magic = "\x93NUMPY";

/// The text of the header, the format's version, and the position of the samples.
struct Text {
    std::string text;
    int version = 1;
    Bytes end = 0;
};

Text read_header(SourceFile& file) {
    std::array<std::byte, 12> start{};
    const Bytes got = file.read_at(0, start);
    const auto* const letters = reinterpret_cast<const char*>(start.data());
    if (got < 10 || std::string_view(letters, magic.size()) != magic)
        throw InvalidFile(file.path(), "is not an NPY file: its first bytes are others");
    const int version = std::to_integer<int>(start[6]);
    const int minor = std::to_integer<int>(start[7]);
    if (version < 1 || version > 3 || minor != 0) {
        throw InvalidFile(
            file.path(),
            fmt::format("is of NPY version {}.{}, expected 1.0, 2.0 or 3.0", version, minor));
    }
    const Bytes begin = version == 1 ? 10 : 12;
    const Bytes length = version == 1 ? Bytes{number_in<std::uint16_t>(start, 8, false)}
                                      : Bytes{number_in<std::uint32_t>(start, 8, false)};
    constexpr Bytes longest = 10'000; // NumPy's limit
    if (length > longest || begin + length > file.size()) {
        throw InvalidFile(file.path(), fmt::format("claims a header of {} bytes: damaged or "
                                                   "truncated",
                                                   length));
    }
    Text text{std::string(static_cast<std::size_t>(length), '\0'), version, begin + length};
    file.read_at(begin, std::as_writable_bytes(std::span(text.text)));
    return text;
}

/// Returns the product of the axes before rows and columns.
std::int64_t count_frames(const std::string& path, const std::vector<std::int64_t>& shape) {
    std::int64_t frames = 1;
    for (std::size_t axis = 0; axis + 2 < shape.size(); ++axis) {
        if (shape[axis] > std::numeric_limits<std::int64_t>::max() / frames)
            throw InvalidFile(path, "has more frames than can be counted: damaged");
        frames *= shape[axis];
    }
    return frames;
}

/// In Fortran order the first axis varies fastest.
StoredLayout fortran_layout(const FrameHeader& header, Bytes start, bool swapped) {
    return {{start}, 1, header.frames, header.frames * header.shape.height, swapped};
}

} // namespace

std::unique_ptr<FrameSource> open_npy(const std::string& path, const std::string& detail,
                                      const SourceOptions&) {
    refuse_detail(path, detail);
    SourceFile file(path);
    const Text text = read_header(file);
    const NpyHeader array = parse_npy_header(path, text.text, text.version);
    const std::size_t axes = array.shape.size();
    if (axes < 2 || (axes > 3 && array.fortran)) {
        throw InvalidFile(path,
                          fmt::format("has {} axes, expected 2 or 3 (in C order more)", axes));
    }
    FrameHeader header{count_frames(path, array.shape),
                       {array.shape[axes - 1], array.shape[axes - 2]},
                       array.sample};
    checked_frames(path, header);
    remark_on_axes(std::span(array.shape).first(axes - 2), header);
    StoredLayout layout = array.fortran ? fortran_layout(header, text.end, array.big_endian)
                                        : dense_layout(header, text.end, array.big_endian);
    layout.boolean = array.boolean;
    if (array.fortran && header.frames > 1)
        header.remarks.push_back("in Fortran order: a frame's samples lie far apart, reading is "
                                 "slow");
    return stored_frames(std::move(file), std::move(header), layout);
}

std::unique_ptr<FrameSink> create_npy(const std::string& path, const FrameHeader& header,
                                      const SinkOptions&) {
    check_sink(path, header,
               {Sample::u8, Sample::i8, Sample::u16, Sample::i16, Sample::u32, Sample::i32,
                Sample::u64, Sample::i64, Sample::f16, Sample::f32, Sample::f64});
    const std::string_view sample = name(header.sample);
    const std::string frames = header.frames > 1 ? fmt::format("{}, ", header.frames) : "";
    std::string text = fmt::format(
        "{{'descr': '<{}{}', 'fortran_order': False, 'shape': ({}{}, {}), }}", sample.front(),
        size_of(header.sample), frames, header.shape.height, header.shape.width);
    constexpr std::size_t alignment = 64, before = 10;
    while ((before + text.size() + 1) % alignment != 0)
        text += ' ';
    text += '\n';
    std::vector<std::byte> start(before);
    put_number(std::span(start), 6, std::array{'\1', '\0'});
    put_number(std::span(start), 8, static_cast<std::uint16_t>(text.size()));
    std::memcpy(start.data(), magic.data(), magic.size());
    const auto bytes = std::as_bytes(std::span(text));
    start.insert(start.end(), bytes.begin(), bytes.end());
    return stored_sink(path, header, start);
}

} // namespace sextant::format
