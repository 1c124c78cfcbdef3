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
    ImageShape shape;
    std::optional<Sample> sample;
    Bytes offset = 0;
    std::optional<std::int64_t> frames;
    bool big_endian = false;
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

/// Takes one of the words into the description. Returns whether it is one.
bool take(std::string_view word, Description& description) {
    if (const auto shape = shape_of(word))
        description.shape = *shape;
    else if (const auto sample = sample_named(word))
        description.sample = sample;
    else if (const auto offset = number_of(word, "offset="))
        description.offset = *offset;
    else if (const auto frames = number_of(word, "frames="))
        description.frames = frames;
    else if (word == "big-endian")
        description.big_endian = true;
    else
        return false;
    return true;
}

Description parse(const std::string& path, std::string_view detail) {
    Description description;
    while (!detail.empty()) {
        const std::size_t end = std::min(detail.find(','), detail.size());
        if (!take(detail.substr(0, end), description)) {
            throw InvalidFile(path, fmt::format("\"{}\" says nothing of its layout, expected such "
                                                "as 512x512,u16,offset=0,frames=20,big-endian",
                                                detail.substr(0, end)));
        }
        detail.remove_prefix(std::min(end + 1, detail.size()));
    }
    if (!description.sample || description.shape == ImageShape{}) {
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
    FrameHeader header{1, description.shape, *description.sample};
    checked_frames(path, header);
    const Bytes frame = header.shape.elements() * size_of(header.sample);
    const Bytes left = file.size() - description.offset;
    header.frames = description.frames.value_or(std::max<std::int64_t>(1, left / frame));
    checked_frames(path, header);
    if (!description.frames && left > header.frames * frame) {
        header.remarks.push_back(fmt::format("{} bytes behind the last frame are left over",
                                             left - header.frames * frame));
    }
    const auto layout = dense_layout(header, description.offset, description.big_endian);
    return stored_frames(std::move(file), std::move(header), layout);
}

} // namespace sextant::format
