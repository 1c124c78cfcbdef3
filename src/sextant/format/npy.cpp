// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/npy.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format/encoded.hpp"
#include "sextant/format/frame_check.hpp"
#include "sextant/format/source_file.hpp"
#include "sextant/format/stored_frames.hpp"
#include "sextant/format/stored_sink.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant::format {

namespace {

constexpr std::string_view magic = "\x93NUMPY";

/// What the header states, a Python dictionary: {'descr': '<f4', 'fortran_order': False,
/// 'shape': (3, 5, 7), }.
struct Array {
    std::string descr;
    bool fortran = false;
    std::vector<std::int64_t> shape;
};

/// What stands behind "'key':", from its first character that is no space.
std::string_view behind(const std::string& path, std::string_view text, std::string_view key) {
    const std::size_t at = text.find(fmt::format("'{}'", key));
    const std::size_t colon = at == std::string_view::npos ? at : text.find(':', at);
    if (colon == std::string_view::npos)
        throw InvalidFile(path, fmt::format("has no '{}' in its NPY header", key));
    const std::size_t value = text.find_first_not_of(" \t", colon + 1);
    return value == std::string_view::npos ? std::string_view() : text.substr(value);
}

std::vector<std::int64_t> parse_shape(const std::string& path, std::string_view text) {
    const std::string_view list = text.substr(0, text.find(')'));
    if (!list.starts_with('(') || list.size() == text.size())
        throw InvalidFile(path, "has a shape in its NPY header that is no list of numbers");
    std::vector<std::int64_t> shape;
    for (std::size_t at = 1; at < list.size();) {
        std::int64_t side = 0;
        const auto [end, error] =
            std::from_chars(list.data() + at, list.data() + list.size(), side);
        if (error != std::errc() || side < 1) {
            throw InvalidFile(path, fmt::format("has the shape {}), expected positive numbers",
                                                list.substr(0, 64)));
        }
        shape.push_back(side);
        at = std::min(list.find_first_not_of(" ,L", static_cast<std::size_t>(end - list.data())),
                      list.size());
    }
    return shape;
}

Array parse(const std::string& path, std::string_view text) {
    Array array;
    const std::string_view descr = behind(path, text, "descr");
    if (!descr.starts_with('\'') || descr.find('\'', 1) == std::string_view::npos)
        throw InvalidFile(path, "has elements of several parts, expected plain numbers");
    array.descr = descr.substr(1, descr.find('\'', 1) - 1);
    array.fortran = behind(path, text, "fortran_order").starts_with("True");
    array.shape = parse_shape(path, behind(path, text, "shape"));
    return array;
}

Sample checked_sample(const std::string& path, const std::string& descr) {
    struct Type {
        std::string_view descr;
        Sample sample;
    };
    constexpr std::array types{
        Type{"b1", Sample::u8},  Type{"u1", Sample::u8},  Type{"i1", Sample::i8},
        Type{"u2", Sample::u16}, Type{"i2", Sample::i16}, Type{"u4", Sample::u32},
        Type{"i4", Sample::i32}, Type{"u8", Sample::u64}, Type{"i8", Sample::i64},
        Type{"f2", Sample::f16}, Type{"f4", Sample::f32}, Type{"f8", Sample::f64},
    };
    for (const Type& type : types) {
        if (descr.size() == 3 && descr.ends_with(type.descr))
            return type.sample;
    }
    throw InvalidFile(path, fmt::format("has elements of type '{}', expected integers of 8 to 64 "
                                        "bits, floats of 16 to 64 or bools",
                                        descr.substr(0, 32)));
}

/// The text of the header, and where the samples begin.
struct Text {
    std::string text;
    Bytes end = 0;
};

Text read_text(SourceFile& file) {
    std::array<std::byte, 12> start{};
    const Bytes got = file.read_at(0, start);
    const auto* const letters = reinterpret_cast<const char*>(start.data());
    if (got < 10 || std::string_view(letters, magic.size()) != magic)
        throw InvalidFile(file.path(), "is not an NPY file: its first bytes are others");
    const int version = std::to_integer<int>(start[6]);
    if (version < 1 || version > 3) {
        throw InvalidFile(file.path(),
                          fmt::format("is of NPY version {}, expected 1 to 3", version));
    }
    const Bytes begin = version == 1 ? 10 : 12;
    const Bytes length = version == 1 ? Bytes{number_in<std::uint16_t>(start, 8, false)}
                                      : Bytes{number_in<std::uint32_t>(start, 8, false)};
    constexpr Bytes longest = 1 << 16;
    if (length > longest || begin + length > file.size()) {
        throw InvalidFile(file.path(), fmt::format("claims a header of {} bytes: damaged or "
                                                   "truncated",
                                                   length));
    }
    Text text{std::string(static_cast<std::size_t>(length), '\0'), begin + length};
    file.read_at(begin, std::as_writable_bytes(std::span(text.text)));
    return text;
}

/// The axes in front of rows and columns as one of frames.
std::int64_t count_frames(const std::string& path, const std::vector<std::int64_t>& shape) {
    std::int64_t frames = 1;
    for (std::size_t axis = 0; axis + 2 < shape.size(); ++axis) {
        if (shape[axis] > std::numeric_limits<std::int64_t>::max() / frames)
            throw InvalidFile(path, "has more frames than can be counted: damaged");
        frames *= shape[axis];
    }
    return frames;
}

/// In Fortran order the first axis runs fastest.
StoredLayout fortran_layout(const FrameHeader& header, Bytes start, bool swapped) {
    return {{start}, 1, header.frames, header.frames * header.shape.height, swapped};
}

} // namespace

std::unique_ptr<FrameSource> open_npy(const std::string& path, const std::string& detail,
                                      const SourceOptions&) {
    refuse_detail(path, detail);
    SourceFile file(path);
    const Text text = read_text(file);
    const Array array = parse(path, text.text);
    const std::size_t axes = array.shape.size();
    if (axes < 2 || (axes > 3 && array.fortran)) {
        throw InvalidFile(path,
                          fmt::format("has {} axes, expected 2 or 3 (in C order more)", axes));
    }
    FrameHeader header{count_frames(path, array.shape),
                       {array.shape[axes - 1], array.shape[axes - 2]},
                       checked_sample(path, array.descr)};
    checked_frames(path, header);
    remark_on_axes(std::span(array.shape).first(axes - 2), header);
    const bool swapped = array.descr.starts_with('>');
    const StoredLayout layout = array.fortran ? fortran_layout(header, text.end, swapped)
                                              : dense_layout(header, text.end, swapped);
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
