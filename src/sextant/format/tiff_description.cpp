// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/tiff_description.hpp"

#include "sextant/format/frame_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include <fmt/format.h>

namespace sextant::format {

namespace {

/// ImageJ reads its text as Java's properties: Latin-1, other characters as \uXXXX.
std::string escaped_for_java(std::string_view utf8) {
    std::string escaped;
    for (std::size_t i = 0; i < utf8.size();) {
        const auto first = static_cast<unsigned char>(utf8[i++]);
        if (first < 0x80) {
            escaped += first == '\\' ? "\\\\" : std::string(1, static_cast<char>(first));
            continue;
        }
        std::uint32_t code = first >= 0xE0 ? first & 0x0FU : first & 0x1FU;
        for (; i < utf8.size() && (static_cast<unsigned char>(utf8[i]) & 0xC0U) == 0x80; ++i)
            code = code << 6 | (static_cast<unsigned char>(utf8[i]) & 0x3FU);
        escaped += fmt::format("\\u{:04X}", code & 0xFFFF);
    }
    return escaped;
}

std::string_view ome_type(Sample sample) {
    switch (sample) {
    case Sample::u8:
        return "uint8";
    case Sample::u16:
        return "uint16";
    case Sample::u32:
        return "uint32";
    default:
        return "float";
    }
}

bool storable(double pixel) {
    return tiff_rational(1 / pixel).numerator > 0;
}

} // namespace

std::string imagej_description(const FrameHeader& header, const SinkOptions& options) {
    std::string text = fmt::format("ImageJ=1.53t\nimages={}\n", header.frames);
    if (header.frames > 1)
        text += fmt::format("{}={}\n", options.axis == StackAxis::time ? "frames" : "slices",
                            header.frames);
    const PixelSize pixel = in_storable_unit(header.pixel);
    if (pixel.known() && !pixel.unit.empty())
        text += fmt::format("unit={}\n", escaped_for_java(pixel.unit));
    if (header.frame_interval > 0)
        text += fmt::format("finterval={}\n", header.frame_interval);
    return text;
}

std::string ome_description(const FrameHeader& header, const SinkOptions& options) {
    const bool time = options.axis == StackAxis::time;
    std::string pixels = fmt::format(
        "ID=\"Pixels:0\" DimensionOrder=\"XYZCT\" Type=\"{}\" SizeX=\"{}\" SizeY=\"{}\" "
        "SizeZ=\"{}\" SizeC=\"1\" SizeT=\"{}\"",
        ome_type(header.sample), header.shape.width, header.shape.height, time ? 1 : header.frames,
        time ? header.frames : 1);
    if (header.pixel.known() && metres_of(header.pixel.unit) > 0) {
        pixels += fmt::format(" PhysicalSizeX=\"{}\" PhysicalSizeXUnit=\"{}\" PhysicalSizeY=\"{}\""
                              " PhysicalSizeYUnit=\"{}\"",
                              header.pixel.x, header.pixel.unit, header.pixel.y, header.pixel.unit);
    }
    if (header.frame_interval > 0)
        pixels +=
            fmt::format(" TimeIncrement=\"{}\" TimeIncrementUnit=\"s\"", header.frame_interval);
    constexpr std::string_view schema = "http://www.openmicroscopy.org/Schemas/OME/2016-06";
    return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?><OME xmlns=\"{0}\" "
                       "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
                       "xsi:schemaLocation=\"{0} {0}/ome.xsd\"><Image ID=\"Image:0\"><Pixels {1}>"
                       "<Channel ID=\"Channel:0:0\" SamplesPerPixel=\"1\"/>"
                       "<TiffData IFD=\"0\" PlaneCount=\"{2}\"/></Pixels></Image></OME>",
                       schema, pixels, header.frames);
}

/// By its continued fraction.
TiffRational tiff_rational(double number) {
    constexpr double most = std::numeric_limits<std::int32_t>::max();
    double numerator = 1, denominator = 0, numerator_before = 0, denominator_before = 1;
    for (double rest = number; std::isfinite(rest);) {
        const double whole = std::floor(rest);
        const double next_numerator = whole * numerator + numerator_before;
        const double next_denominator = whole * denominator + denominator_before;
        if (next_numerator > most || next_denominator > most)
            break;
        numerator_before = numerator, numerator = next_numerator;
        denominator_before = denominator, denominator = next_denominator;
        if (rest == whole || std::abs(numerator / denominator / number - 1) < 1e-15)
            break;
        rest = 1 / (rest - whole);
    }
    if (!(std::abs(numerator / denominator / number - 1) < 1e-6))
        return {};
    return {static_cast<std::uint32_t>(numerator), static_cast<std::uint32_t>(denominator)};
}

PixelSize in_storable_unit(const PixelSize& pixel) {
    if (!pixel.known() || (storable(pixel.x) && storable(pixel.y)))
        return pixel;
    const double metres = metres_of(pixel.unit);
    const auto in = [&](const char* unit) {
        const double scale = metres / metres_of(unit);
        return PixelSize{pixel.x * scale, pixel.y * scale, unit};
    };
    // The one that gives the most readable number.
    for (const char* unit : {"m", "mm", "µm", "nm", "pm"}) {
        const PixelSize converted = in(unit);
        if (converted.x >= .05 && storable(converted.x) && storable(converted.y))
            return converted;
    }
    return {};
}

PixelSize in_centimetres(const PixelSize& pixel) {
    const double scale = metres_of(pixel.unit) / metres_of("cm");
    const PixelSize converted{pixel.x * scale, pixel.y * scale, "cm"};
    return converted.known() && storable(converted.x) && storable(converted.y) ? converted
                                                                               : PixelSize();
}

} // namespace sextant::format
