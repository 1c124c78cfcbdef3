// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/headerless.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format/frame_check.hpp"
#include "sextant/format/source_file.hpp"
#include "sextant/format/stored_frames.hpp"

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace sextant::format {

namespace {

/// What is written behind the name.
struct Description {
    std::optional<ImageShape> shape;
    std::optional<Sample> sample;
    std::optional<Bytes> offset;
    std::optional<std::int64_t> frames;
    std::optional<bool> big_endian;
};

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool good = error == std::errc() && end == text.data() + text.size() && value >= 0;
    return good ? std::optional(value) : std::nullopt;
}

/// The number behind "key=".
std::optional<std::int64_t> number_of(std::string_view word, std::string_view key) {
    return word.starts_with(key) ? whole_number(word.substr(key.size())) : std::nullopt;
}

std::optional<ImageShape> shape_of(std::string_view word) {
    const std::size_t cross = word.find('x');
    if (cross == std::string_view::npos)
        return std::nullopt;
    const auto width = whole_number(word.substr(0, cross));
    const auto height = whole_number(word.substr(cross + 1));
    return width && height ? std::optional(ImageShape{*width, *height}) : std::nullopt;
}

/// Sets what is not set. Returns false if it is: a second value contradicts the first.
template <class T>
bool set_once(std::optional<T>& field, const T& value) {
    const bool first = !field;
    field = field.value_or(value);
    return first;
}

/// Takes one of the words into the description. Returns whether it is one, and the first of its
/// kind.
bool take(std::string_view word, Description& description) {
    if (const auto shape = shape_of(word))
        return set_once(description.shape, *shape);
    if (const auto sample = sample_named(word))
        return set_once(description.sample, *sample);
    if (const auto offset = number_of(word, "offset="))
        return set_once(description.offset, *offset);
    if (const auto frames = number_of(word, "frames="))
        return set_once(description.frames, *frames);
    return word == "big-endian" && set_once(description.big_endian, true);
}

Description parse(const std::string& path, std::string_view detail) {
    Description description;
    while (!detail.empty()) {
        const std::size_t end = std::min(detail.find(','), detail.size());
        if (!take(detail.substr(0, end), description)) {
            throw InvalidFile(path, fmt::format("\"{}\" says nothing of its layout, or not for the "
                                                "first time, expected such as "
                                                "512x512,u16,offset=0,frames=20,big-endian",
                                                detail.substr(0, end)));
        }
        detail.remove_prefix(std::min(end + 1, detail.size()));
    }
    if (!description.sample || !description.shape) {
        throw InvalidFile(path, fmt::format("has no header: write width, height and samples behind "
                                            "its name, such as {}::512x512,u16",
                                            path));
    }
    return description;
}

} // namespace

std::unique_ptr<FrameSource> open_headerless(const std::string& path, const std::string& detail,
                                             const SourceOptions&) {
    SourceFile file(path);
    const Description description = parse(path, detail);
    FrameHeader header{1, *description.shape, *description.sample};
    checked_frames(path, header);
    const Bytes frame = header.shape.elements() * size_of(header.sample);
    const Bytes offset = description.offset.value_or(0);
    const Bytes left = file.size() - offset;
    header.frames = description.frames.value_or(std::max<std::int64_t>(1, left / frame));
    checked_frames(path, header);
    if (!description.frames && left > header.frames * frame) {
        header.remarks.push_back(fmt::format("{} bytes behind the last frame are left over",
                                             left - header.frames * frame));
    }
    const auto layout = dense_layout(header, offset, description.big_endian.value_or(false));
    return stored_frames(std::move(file), std::move(header), layout);
}

} // namespace sextant::format
