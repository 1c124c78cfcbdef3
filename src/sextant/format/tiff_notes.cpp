// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/tiff_notes.hpp"

#include "sextant/format/frame_check.hpp"
#include "sextant/format/tiff_ome.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::format {

namespace {

/// The value behind `key` in text of one "key=value" a line, as ImageJ writes.
std::string_view value_of(std::string_view text, std::string_view key) {
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = std::min(text.find('\n', start), text.size());
        const std::string_view line = text.substr(start, end - start);
        if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == '=')
            return line.substr(key.size() + 1);
        start = end + 1;
    }
    return {};
}

/// \uXXXX of Java's properties as UTF-8.
std::string unescaped(std::string_view text) {
    std::string all;
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::uint32_t code = 0;
        if (text.substr(i, 2) == "\\u" && i + 6 <= text.size() &&
            std::from_chars(text.data() + i + 2, text.data() + i + 6, code, 16).ptr ==
                text.data() + i + 6) {
            i += 5;
            if (code < 0x80) {
                all += static_cast<char>(code);
            } else {
                if (code >= 0x800)
                    all += static_cast<char>(0xE0 | code >> 12);
                all +=
                    static_cast<char>(code >= 0x800 ? 0x80 | (code >> 6 & 0x3F) : 0xC0 | code >> 6);
                all += static_cast<char>(0x80 | (code & 0x3F));
            }
        } else {
            all += text[i];
        }
    }
    return all;
}

/// One over the resolution: how many pixels there are to a unit.
PixelSize resolved_pixel(TIFF* file, std::string unit) {
    float x = 0, y = 0;
    TIFFGetField(file, TIFFTAG_XRESOLUTION, &x);
    TIFFGetField(file, TIFFTAG_YRESOLUTION, &y);
    if (!(x > 0) || !(y > 0) || unit.empty())
        return {};
    return {1 / static_cast<double>(x), 1 / static_cast<double>(y), std::move(unit)};
}

PixelSize pixel_in_centimetres(TIFF* file) {
    std::uint16_t unit = RESUNIT_NONE;
    TIFFGetFieldDefaulted(file, TIFFTAG_RESOLUTIONUNIT, &unit);
    return resolved_pixel(file, unit == RESUNIT_CENTIMETER ? "cm" : "");
}

/// ImageJ takes the axes for what they are only where they make up all images.
TiffNotes imagej_notes(TIFF* file, std::string_view text, std::int64_t pages) {
    TiffNotes notes;
    notes.pixel = resolved_pixel(file, tidy_unit(unescaped(value_of(text, "unit"))));
    const std::string_view unit = value_of(text, "tunit");
    notes.frame_interval =
        believable_interval(decimal_in(value_of(text, "finterval")), unit.empty() ? "s" : unit);
    notes.images = std::min(whole_number_in(value_of(text, "images"), 0), longest_axis);
    PageAxes axes;
    axes.channels.count = length_of_axis(value_of(text, "channels"));
    axes.slices.count = length_of_axis(value_of(text, "slices"));
    axes.frames.count = length_of_axis(value_of(text, "frames"));
    const std::int64_t stated = std::max(notes.images, pages);
    const std::int64_t plane = axes.channels.count * axes.slices.count;
    if (stated % plane == 0 && stated / plane == axes.frames.count)
        notes.axes = in_order(axes, "CZT");
    return notes;
}

/// tifffile's own note: {"shape": [5, 2, 512, 512], "axes": "TCYX"}.
TiffNotes shaped_notes(TIFF* file, std::string_view text, std::int64_t pages, int samples) {
    TiffNotes notes;
    notes.pixel = pixel_in_centimetres(file);
    constexpr std::size_t longest = 1 << 16;
    const auto json = nlohmann::json::parse(text.substr(0, longest), nullptr, false);
    const auto shape = json.is_object() ? json.find("shape") : json.end();
    if (!json.is_object() || shape == json.end() || !shape->is_array())
        return notes;
    std::vector<std::int64_t> sides;
    for (const auto& side : *shape)
        sides.push_back(side.is_number_integer()
                            ? std::clamp<std::int64_t>(side.get<std::int64_t>(), 1, longest_axis)
                            : 1);
    const std::string letters =
        json.contains("axes") && json["axes"].is_string() ? json["axes"].get<std::string>() : "";
    const std::size_t leading = letters.find('Y');
    const bool known = letters.size() == sides.size() && leading != std::string::npos &&
                       letters.find_first_not_of("TCZ") == leading;
    if (!known) {
        if (sides.size() > 3 && pages > 1 && letters.find('S') == std::string::npos)
            notes.remarks.push_back(
                fmt::format("its axes are not named: all {} planes are read as frames", pages));
        return notes;
    }
    PageAxes axes;
    std::string order;
    for (std::size_t i = leading; i-- > 0;) {
        PageAxis& axis = letters[i] == 'C'   ? axes.channels
                         : letters[i] == 'Z' ? axes.slices
                                             : axes.frames;
        axis.count = sides[i];
        order += letters[i];
    }
    for (const char letter : {'C', 'Z', 'T'}) {
        if (order.find(letter) == std::string::npos)
            order += letter;
    }
    if (letters.find('S') == std::string::npos)
        axes.channels.count = without_samples(axes.channels.count, samples);
    notes.axes = in_order(axes, order);
    return notes;
}

} // namespace

TiffNotes read_notes(TIFF* file, const std::string& path, std::int64_t pages, int samples) {
    const char* stored = nullptr;
    TIFFGetField(file, TIFFTAG_IMAGEDESCRIPTION, &stored);
    const std::string_view text = stored ? stored : "";
    if (text.starts_with("ImageJ=") || text.starts_with("SCIFIO="))
        return imagej_notes(file, text, pages);
    if (text.find("<OME") != std::string_view::npos)
        return ome_notes(text, path, pages, samples);
    if (text.starts_with('{'))
        return shaped_notes(file, text, pages, samples);
    TiffNotes notes;
    notes.pixel = pixel_in_centimetres(file);
    return notes;
}

} // namespace sextant::format
