// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/checks.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace sextant::format {

ImageShape checked_shape(const std::string& path, std::int64_t width, std::int64_t height) {
    // The division avoids an overflow of the product.
    if (width < 1 || height < 1 || width > maximum_pixels / height) {
        throw InvalidFile(path,
                          fmt::format("is {}×{}, expected positive sides and at most {} pixels",
                                      width, height, maximum_pixels));
    }
    return {width, height};
}

void check_plausible(const std::string& path, Bytes stored, Bytes size, Bytes ratio) {
    if (stored / ratio > size) {
        throw InvalidFile(path,
                          fmt::format("has {} bytes, too few for the {} bytes of pixels that its "
                                      "header claims: damaged or truncated",
                                      size, stored));
    }
}

void check_held(const std::string& path, Elements pixels, Bytes size) {
    if (pixels > std::max(believable_image, deflate_ratio * size)) {
        throw InvalidFile(
            path,
            fmt::format(
                "has {} pixels in {} bytes, expected at most {} pixels in a file of this size",
                pixels, size, std::max(believable_image, deflate_ratio * size)));
    }
}

void check_row(const std::string& path, const FrameHeader& frame, Bytes size) {
    constexpr Bytes believable_row = Bytes{1} << 26, believable_ratio = 64;
    const Bytes row = frame.shape.width * frame.channels * size_of(frame.sample);
    if (row > believable_row)
        check_plausible(path, row, size, believable_ratio);
}

void check_expected(const std::string& path, const ImageHeader& found, const ImageHeader& expected,
                    std::span<const std::byte> to) {
    if (found.shape != expected.shape || found.element != expected.element) {
        throw InvalidFile(path,
                          fmt::format("is {}×{} {}, expected {}×{} {}", found.shape.width,
                                      found.shape.height, found.element.name, expected.shape.width,
                                      expected.shape.height, expected.element.name));
    }
    if (static_cast<Bytes>(to.size()) != found.shape.elements() * found.element.size) {
        throw std::logic_error("the size of the buffer differs from that of the pixels to read");
    }
}

void check_writable(const std::string& path, const Image& image, std::int64_t longest_side,
                    bool halves) {
    const ImageShape shape = image.shape();
    if (std::min(shape.width, shape.height) < 1 ||
        std::max(shape.width, shape.height) > longest_side) {
        throw InvalidFile(path, fmt::format("cannot hold {}×{} pixels, expected sides from 1 to {}",
                                            shape.width, shape.height, longest_side));
    }
    const bool held = image.element() == rgba_f32 || image.element() == rgba_depth_f32 ||
                      (halves && image.element() == rgba_f16);
    if (!held) {
        throw InvalidFile(path,
                          fmt::format("cannot hold pixels of {}, expected {} or {}",
                                      image.element().name, rgba_f32.name, rgba_depth_f32.name));
    }
}

namespace {

struct Spelling {
    std::string_view stated, shown;
};

constexpr std::array spellings{
    Spelling{"um", "µm"},         Spelling{"u_m", "µm"},        Spelling{"micron", "µm"},
    Spelling{"microns", "µm"},    Spelling{"\\u00B5m", "µm"},   Spelling{"μm", "µm"},
    Spelling{"n_m", "nm"},        Spelling{"nanometer", "nm"},  Spelling{"p_m", "pm"},
    Spelling{"A", "Å"},           Spelling{"Ang", "Å"},         Spelling{"Angstrom", "Å"},
    Spelling{"angstrom", "Å"},    Spelling{"Angstroms", "Å"},   Spelling{"\\u00C5", "Å"},
    Spelling{"n_m^-1", "1/nm"},   Spelling{"nm^-1", "1/nm"},    Spelling{"A^-1", "1/Å"},
    Spelling{"micrometer", "µm"}, Spelling{"picometer", "pm"},  Spelling{"meter", "m"},
    Spelling{"millimeter", "mm"}, Spelling{"centimeter", "cm"}, Spelling{"pixel", ""},
    Spelling{"pixels", ""},       Spelling{"px", ""},           Spelling{"<undefined>", ""},
    Spelling{"none", ""},         Spelling{"Å^-1", "1/Å"},      Spelling{"1/A", "1/Å"},
    Spelling{"1 / Å", "1/Å"},     Spelling{"1 / nm", "1/nm"},   Spelling{"n_m-1", "1/nm"},
    Spelling{"nm-1", "1/nm"},     Spelling{"1/um", "1/µm"},     Spelling{"u_m^-1", "1/µm"},
    Spelling{"µm^-1", "1/µm"},    Spelling{"m^-1", "1/m"},      Spelling{"degree", "deg"},
    Spelling{"degrees", "deg"},   Spelling{"°", "deg"},         Spelling{"radian", "rad"},
    Spelling{"radians", "rad"},   Spelling{"m_rad", "mrad"},    Spelling{"milliradian", "mrad"},
    Spelling{"Degrees", "deg"},   Spelling{"\u212B", "Å"},      Spelling{"No unit", ""},
    Spelling{"nm⁻¹", "1/nm"},     Spelling{"Å⁻¹", "1/Å"},       Spelling{"µm⁻¹", "1/µm"},
};

/// The range of plausible pixel sizes.
struct Believed {
    double least, most;
};

/// For lengths, the range is from the size of a nucleus to that of a continent.
Believed believed_of(std::string_view unit) {
    const double metres = metres_of(unit);
    return metres > 0 ? Believed{1e-15 / metres, 1e6 / metres} : Believed{1e-15, 1e15};
}

/// Returns the length of a time unit in seconds; 0 if the unit is not a time.
Seconds seconds_of(std::string_view unit) {
    struct Time {
        std::string_view unit;
        Seconds seconds;
    };
    constexpr std::array times{Time{"s", 1},
                               Time{"sec", 1},
                               Time{"second", 1},
                               Time{"seconds", 1},
                               Time{"ms", 1e-3},
                               Time{"msec", 1e-3},
                               Time{"µs", 1e-6},
                               Time{"us", 1e-6},
                               Time{"\\u00B5s", 1e-6},
                               Time{"usec", 1e-6},
                               Time{"ns", 1e-9},
                               Time{"min", 60},
                               Time{"minutes", 60},
                               Time{"millisecond", 1e-3},
                               Time{"microsecond", 1e-6},
                               Time{"nanosecond", 1e-9},
                               Time{"minute", 60},
                               Time{"hour", 3600},
                               Time{"day", 86400},
                               Time{"h", 3600},
                               Time{"hr", 3600},
                               Time{"hours", 3600},
                               Time{"d", 86400.0}};
    for (const Time& time : times) {
        if (unit == time.unit)
            return time.seconds;
    }
    return 0;
}

bool is_printable(std::string_view text) {
    return std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 32; });
}

/// Describes the difference between a frame and the expected frame; "" if there is none.
std::string difference(std::int64_t frame, const FrameHeader& found, const FrameHeader& expected) {
    if (found.shape != expected.shape) {
        return fmt::format("frame {} is {}, expected {}", frame, to_text(found.shape),
                           to_text(expected.shape));
    }
    if (found.sample != expected.sample || found.channels != expected.channels) {
        return fmt::format("frame {} has {} samples of {} per pixel, expected {} of {}", frame,
                           found.channels, name(found.sample), expected.channels,
                           name(expected.sample));
    }
    return "";
}

} // namespace

std::string listed(const std::vector<std::string>& names, const std::string& except) {
    constexpr std::size_t shown = 8;
    std::string list;
    std::size_t count = 0;
    for (const std::string& name : names) {
        if (!except.empty() && name == except)
            continue;
        if (++count > shown)
            return list + ", ...";
        list += fmt::format("{}{}", list.empty() ? "" : ", ", printable(name));
    }
    return list;
}

std::string lower_case(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

std::string to_text(const ImageShape& shape) {
    return fmt::format("{}×{}", shape.width, shape.height);
}

void check_alike(const std::string& path, std::int64_t frame, const FrameHeader& found,
                 const FrameHeader& expected) {
    const std::string what = difference(frame, found, expected);
    if (!what.empty())
        throw InvalidFile(path, what);
}

void remark_on_others(std::span<const FrameHeader> each, FrameHeader& header) {
    for (std::int64_t frame = 0; frame < header.frames; ++frame) {
        const std::string what = difference(frame, each[static_cast<std::size_t>(frame)], header);
        if (!what.empty()) {
            header.remarks.push_back(what);
            return; // one remark is enough
        }
    }
}

void remark_on_axes(std::span<const std::int64_t> lengths, FrameHeader& header) {
    std::string axes;
    int longer = 0;
    for (const std::int64_t length : lengths) {
        axes += fmt::format("{}{}", axes.empty() ? "" : "×", length);
        longer += length > 1 ? 1 : 0;
    }
    if (longer > 1) {
        header.remarks.push_back(
            fmt::format("the frames are on several axes ({}): all {} planes are read as one series",
                        axes, header.frames));
    }
}

std::string truncated(std::int64_t whole, std::int64_t stated) {
    return fmt::format("truncated: {} of {} frames are complete", whole, stated);
}

void require_frames(const std::string& path, const FrameHeader& header) {
    if (header.frames > 0)
        return;
    std::string why;
    for (const std::string& remark : header.remarks)
        why += fmt::format("{}{}", why.empty() ? ": " : "; ", remark);
    throw InvalidFile(path, "has no frame that can be read" + why);
}

std::int64_t chosen_plane(const std::string& path, std::string_view axis,
                          std::optional<std::int64_t> requested, std::int64_t count,
                          FrameHeader& header) {
    if (requested && (*requested < 0 || *requested >= count)) {
        throw InvalidFile(path, fmt::format("has no {} {}, expected {}", axis, *requested,
                                            count == 1 ? "0" : fmt::format("0 to {}", count - 1)));
    }
    if (!requested && count > 1) {
        header.remarks.push_back(fmt::format(
            "has {0} {1}s per frame, of which {1} 0 is read; --{1} N selects another{2}", count,
            axis, axis == "slice" ? ", and --time N reads the slices of a time" : ""));
    }
    return requested.value_or(0);
}

namespace {

/// Converts the letters µ, Å and ° in Latin-1 to UTF-8.
std::string in_utf8(std::string_view text) {
    std::string all;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = [&](std::size_t at) {
            return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
        };
        const bool follows = i > 0 && byte(i - 1) >= 0xC0; // continues a UTF-8 character
        const bool leads = (byte(i + 1) & 0xC0) == 0x80;
        if (byte(i) == 0xB5 && !follows)
            all += "µ";
        else if (byte(i) == 0xB0 && !follows)
            all += "°";
        else if (byte(i) == 0xC5 && !leads)
            all += "Å";
        else
            all += text[i];
    }
    return all;
}

} // namespace

std::string tidy_unit(std::string_view given) {
    const std::string utf8 = in_utf8(given);
    std::string_view stated = utf8;
    while (!stated.empty() && (stated.back() == '\0' || stated.back() == ' '))
        stated.remove_suffix(1);
    if (stated.starts_with('[') && stated.ends_with(']'))
        stated = stated.substr(1, stated.size() - 2);
    // Converts British and plural forms, such as "micrometres".
    std::string singular(stated);
    if (singular.ends_with("metres") || singular.ends_with("meters"))
        singular.pop_back();
    if (singular.ends_with("metre"))
        singular.replace(singular.size() - 2, 2, "er");
    for (const Spelling& spelling : spellings) {
        if (stated == spelling.stated || singular == spelling.stated)
            return std::string(spelling.shown);
    }
    constexpr std::size_t longest = 32;
    return stated.size() <= longest && is_printable(stated) ? std::string(stated) : "";
}

double metres_of(std::string_view unit) {
    struct Length {
        std::string_view unit;
        double metres;
    };
    constexpr std::array lengths{Length{"pm", 1e-12}, Length{"Å", 1e-10}, Length{"nm", 1e-9},
                                 Length{"µm", 1e-6},  Length{"mm", 1e-3}, Length{"cm", 1e-2},
                                 Length{"m", 1}};
    for (const Length& length : lengths) {
        if (unit == length.unit)
            return length.metres;
    }
    return 0;
}

namespace {

/// Returns the length in metres whose reciprocal is this unit, such as 1e-9 for "1/nm"; 0 for other
/// units.
double reciprocal_metres_of(std::string_view unit) {
    constexpr std::string_view over = "1/";
    return unit.starts_with(over) ? metres_of(unit.substr(over.size())) : 0;
}

/// Returns an angle unit in radians; 0 for other units.
double radians_of(std::string_view unit) {
    return unit == "rad"    ? 1
           : unit == "mrad" ? 1e-3
           : unit == "µrad" ? 1e-6
           : unit == "deg"  ? std::numbers::pi / 180
                            : 0;
}

} // namespace

namespace {

/// Returns the exact ratio of two powers of ten, without the rounding error of their quotient.
double decimal_ratio(double a, double b) {
    return a >= b ? std::round(a / b) : 1 / std::round(b / a);
}

} // namespace

double unit_factor(std::string_view from, std::string_view to) {
    if (from == to)
        return 1;
    if (metres_of(to) > 0 && metres_of(from) > 0)
        return decimal_ratio(metres_of(from), metres_of(to));
    if (reciprocal_metres_of(from) > 0 && reciprocal_metres_of(to) > 0)
        return decimal_ratio(reciprocal_metres_of(to), reciprocal_metres_of(from));
    return radians_of(to) > 0 ? radians_of(from) / radians_of(to) : 0;
}

double distance_in_pixel_unit(double distance, std::string_view stated_unit,
                              std::string_view pixel_unit) {
    const std::string unit = tidy_unit(stated_unit);
    return metres_of(unit) > 0 ? distance * unit_factor(unit, pixel_unit) : 0;
}

Seconds believable_interval(double stated, std::string_view unit) {
    const Seconds interval = stated * seconds_of(tidy_unit(unit));
    return std::isfinite(interval) && interval > 0 ? interval : 0;
}

PixelSize believable(PixelSize stated, std::vector<std::string>& remarks) {
    if (stated.x == 0 && stated.y == 0)
        return {};
    // The steps are negative if an axis runs backwards.
    PixelSize size{std::abs(stated.x), std::abs(stated.y), std::move(stated.unit)};
    const Believed believed = believed_of(size.unit);
    if (size.x > believed.least && size.x < believed.most && size.y > believed.least &&
        size.y < believed.most)
        return size;
    remarks.push_back(fmt::format("the pixel size of {} by {} {} is implausible and is ignored",
                                  stated.x, stated.y, size.unit));
    return {};
}

PixelSize believable(const StatedPixelSize& stated, std::vector<std::string>& remarks) {
    const std::string unit = tidy_unit(stated.x_unit), y_unit = tidy_unit(stated.y_unit);
    const double factor = unit_factor(y_unit, unit);
    if (factor > 0 || (stated.x == 0 && stated.y == 0))
        return believable(PixelSize{stated.x, stated.y * factor, unit}, remarks);
    const auto size = [](double side, const std::string& its_unit) {
        return fmt::format("{:.6g} {}", side, its_unit.empty() ? "(no unit)" : its_unit);
    };
    remarks.push_back(fmt::format("the pixel size is {} along x and {} along y; it is ignored, "
                                  "because the units cannot be converted",
                                  size(stated.x, unit), size(stated.y, y_unit)));
    return {};
}

double believable_distance(double stated, const PixelSize& pixel) {
    const Believed believed = believed_of(pixel.unit);
    const double distance = std::abs(stated);
    return pixel.known() && distance > believed.least && distance < believed.most ? distance : 0;
}

namespace {

template <class Pixel>
bool has_nan(const Pixel& pixel) {
    return std::isnan(pixel.r) || std::isnan(pixel.g) || std::isnan(pixel.b) || std::isnan(pixel.a);
}

bool not_a_number(const RgbaF32& pixel) {
    return has_nan(pixel);
}

bool not_a_number(const RgbaDepthF32& pixel) {
    return has_nan(pixel) || std::isnan(pixel.depth);
}

/// Comparisons with NaN are false, so NaNs are counted by not_a_number() only.
template <class Pixel>
bool not_premultiplied(const Pixel& pixel) {
    constexpr float tolerance = premultiplied_tolerance;
    const float most = pixel.a + tolerance;
    return pixel.r < -tolerance || pixel.g < -tolerance || pixel.b < -tolerance ||
           pixel.a < -tolerance || pixel.r > most || pixel.g > most || pixel.b > most ||
           pixel.a > 1 + tolerance;
}

template <class Pixel>
PixelCheck count(std::span<const Pixel> pixels) {
    PixelCheck check;
    for (const Pixel& pixel : pixels) {
        check.not_a_number += not_a_number(pixel);
        check.not_premultiplied += not_premultiplied(pixel);
    }
    return check;
}

} // namespace

PixelCheck check_pixels(std::span<const RgbaF32> pixels) {
    return count(pixels);
}

PixelCheck check_pixels(std::span<const RgbaDepthF32> pixels) {
    return count(pixels);
}

PixelCheck check_pixels(const Image& image) {
    if (image.element() == rgba_f32)
        return check_pixels(image.pixels<RgbaF32>());
    if (image.element() == rgba_depth_f32)
        return check_pixels(image.pixels<RgbaDepthF32>());
    throw std::logic_error("only colour pixels can be checked");
}

} // namespace sextant::format
