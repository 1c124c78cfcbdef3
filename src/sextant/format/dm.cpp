// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/dm.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format/dm_tags.hpp"
#include "sextant/format/frame_check.hpp"
#include "sextant/format/source_file.hpp"
#include "sextant/format/stored_frames.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant::format {

namespace {

constexpr std::size_t most_axes = 8;

/// One image of a file, as far as its tags were read.
struct DmImage {
    DmTag data;
    int type = 0;
    std::array<std::int64_t, most_axes> sides{}; ///< 0 behind the last
    std::array<double, 3> scale{};               ///< of columns, rows and frames
    std::array<std::string, 3> unit;
};

/// The number that a text begins with and what stands behind it and a slash.
struct Indexed {
    std::size_t index = 0;
    std::string_view rest;
};

std::optional<Indexed> indexed(std::string_view text, std::string_view before) {
    if (!text.starts_with(before))
        return std::nullopt;
    text.remove_prefix(before.size());
    Indexed parts;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parts.index);
    if (error != std::errc())
        return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    parts.rest = text.substr(text.starts_with('/') ? 1 : 0);
    return parts;
}

/// A side as a whole number that can be counted on.
std::int64_t side(double stated) {
    constexpr double most = 1LL << 40;
    return stated >= 1 && stated <= most ? static_cast<std::int64_t>(stated) : -1;
}

void take(SourceFile& file, const DmTag& tag, std::string_view name, DmImage& image) {
    if (name == "Data") {
        image.data = tag;
    } else if (name == "DataType") {
        image.type = static_cast<int>(std::clamp(dm_number(file, tag), -1.0, 1000.0));
    } else if (const auto dimension = indexed(name, "Dimensions/")) {
        if (dimension->index < most_axes)
            image.sides[dimension->index] = side(dm_number(file, tag));
    } else if (const auto axis = indexed(name, "Calibrations/Dimension/")) {
        if (axis->index < 3 && axis->rest == "Scale")
            image.scale[axis->index] = dm_number(file, tag);
        if (axis->index < 3 && axis->rest == "Units")
            image.unit[axis->index] = dm_text(file, tag);
    }
}

std::optional<Sample> sample_of(int type) {
    switch (type) {
    case 1:
        return Sample::i16;
    case 2:
        return Sample::f32;
    case 6:
    case 14: // of two values
        return Sample::u8;
    case 7:
        return Sample::i32;
    case 9:
        return Sample::i8;
    case 10:
        return Sample::u16;
    case 11:
        return Sample::u32;
    case 12:
        return Sample::f64;
    default:
        return std::nullopt;
    }
}

/// Thumbnails are in colour, and may take more bytes than the image they show.
DmImage largest_image(SourceFile& file) {
    std::map<std::size_t, DmImage> images;
    for_each_dm_tag(file, [&](const DmTag& tag) {
        const auto image = indexed(tag.path, "ImageList/");
        constexpr std::string_view data = "ImageData/";
        if (image && image->rest.starts_with(data))
            take(file, tag, image->rest.substr(data.size()), images[image->index]);
    });
    const auto rank = [](const DmImage& image) {
        return std::pair(sample_of(image.type).has_value(), image.data.size);
    };
    const auto largest =
        std::max_element(images.begin(), images.end(), [&](const auto& a, const auto& b) {
            return rank(a.second) < rank(b.second);
        });
    if (largest == images.end() || largest->second.data.size == 0)
        throw InvalidFile(file.path(), "has no image");
    return largest->second;
}

Sample checked_sample(const std::string& path, int type) {
    const std::optional<Sample> sample = sample_of(type);
    if (!sample) {
        throw InvalidFile(path, fmt::format("has an image of DM's type {}, expected real numbers: "
                                            "1, 2, 6, 7, 9 to 12 or 14",
                                            type));
    }
    return *sample;
}

FrameHeader checked_header(const std::string& path, const DmImage& image) {
    FrameHeader header;
    header.sample = checked_sample(path, image.type);
    header.shape = {image.sides[0], image.sides[1]};
    header.frames = 1;
    for (std::size_t axis = 2; axis < most_axes && image.sides[axis] != 0; ++axis) {
        if (image.sides[axis] < 1 ||
            header.frames > std::numeric_limits<std::int64_t>::max() / image.sides[axis])
            throw InvalidFile(path, "has an axis without a length: damaged");
        header.frames *= image.sides[axis];
    }
    checked_frames(path, header);
    const auto* const end = std::find(image.sides.begin() + 2, image.sides.end(), 0);
    remark_on_axes({image.sides.begin() + 2, end}, header);
    if (image.sides[3] == 0)
        header.frame_interval = believable_interval(image.scale[2], image.unit[2]);
    header.pixel = {image.scale[0], image.scale[1], tidy_unit(image.unit[0])};
    if (header.pixel.unit.empty()) // uncalibrated: a scale of 1
        header.pixel = {};
    header.pixel = believable(header.pixel, header.remarks);
    return header;
}

} // namespace

std::unique_ptr<FrameSource> open_dm(const std::string& path, const std::string& detail,
                                     const SourceOptions&) {
    refuse_detail(path, detail);
    SourceFile file(path);
    const DmImage image = largest_image(file);
    FrameHeader header = checked_header(path, image);
    const Bytes expected = header.frames * header.shape.elements() * size_of(header.sample);
    if (expected != image.data.size) {
        throw InvalidFile(path, fmt::format("has {} bytes of samples, expected {}: {} frames of {} "
                                            "{}",
                                            image.data.size, expected, header.frames,
                                            to_text(header.shape), name(header.sample)));
    }
    const auto layout = dense_layout(header, image.data.start, image.data.swapped);
    return stored_frames(std::move(file), std::move(header), layout);
}

} // namespace sextant::format
