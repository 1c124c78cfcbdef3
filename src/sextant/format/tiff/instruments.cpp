// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/tiff/instruments.hpp"

#include "sextant/format/tiff/page.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>

#include <fmt/format.h>

namespace sextant::format {

namespace {

/// A private tag. libtiff knows only its type.
struct PrivateTag {
    TIFFDataType type = TIFF_NOTYPE;
    std::uint32_t count = 0;
    const void* values = nullptr; ///< valid until libtiff reads another page
};

PrivateTag private_tag(TIFF* file, std::uint32_t number) {
    const TIFFField* const field = TIFFFindField(file, number, TIFF_ANY);
    if (!field || !TIFFFieldPassCount(field) || TIFFFieldReadCount(field) != TIFF_VARIABLE2)
        return {};
    PrivateTag tag{TIFFFieldDataType(field)};
    if (TIFFGetField(file, number, &tag.count, &tag.values) != 1)
        return {};
    return tag;
}

/// Returns the text of a tag up to its first null character; "" if there is none.
std::string text_of(const PrivateTag& tag) {
    const bool letters = tag.type == TIFF_ASCII || tag.type == TIFF_BYTE;
    if (!letters || !tag.values)
        return "";
    const std::string text(static_cast<const char*>(tag.values), tag.count);
    return text.substr(0, text.find('\0'));
}

/// Returns the first number of a tag; 0 if there is none.
double number_of(const PrivateTag& tag) {
    if (!tag.values || tag.count < 1)
        return 0;
    switch (tag.type) {
    case TIFF_DOUBLE:
        return *static_cast<const double*>(tag.values);
    case TIFF_FLOAT:
        return static_cast<double>(*static_cast<const float*>(tag.values));
    default:
        return 0;
    }
}

std::optional<InstrumentNotes> digital_micrograph(TIFF* file, std::string_view) {
    constexpr std::uint32_t x_unit = 65003, y_unit = 65004, z_unit = 65005, x_step = 65009,
                            y_step = 65010, z_step = 65011;
    const auto unit = [&](std::uint32_t number) { return text_of(private_tag(file, number)); };
    const auto step = [&](std::uint32_t number) { return number_of(private_tag(file, number)); };
    if (step(x_step) == 0 || step(y_step) == 0)
        return std::nullopt;
    InstrumentNotes notes;
    // Steps of 1, without a unit or in pixels, mean that the image is not calibrated.
    if (!tidy_unit(unit(x_unit)).empty() || !tidy_unit(unit(y_unit)).empty())
        notes.pixel = {step(x_step), step(y_step), unit(x_unit), unit(y_unit)};
    notes.frame_interval = believable_interval(step(z_step), unit(z_unit));
    return notes;
}

/// Parses a text that is a single number; 0 for other texts, such as "3,5".
double number_in_text(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? value : 0;
}

/// Removes the first line from a text and returns it, without the line break.
std::string_view take_line(std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (!line.empty() && (line.back() == '\r' || line.back() == ' '))
        line.remove_suffix(1);
    return line;
}

/// Returns the number of a key in a section of a text such as "[Scan]\nPixelWidth=1e-9"; 0 if there
/// is none.
double number_in_section(std::string_view text, std::string_view section, std::string_view key) {
    bool inside = false;
    while (!text.empty()) {
        const std::string_view line = take_line(text);
        if (line.starts_with('['))
            inside = line == section;
        else if (inside && line.starts_with(key) && line.substr(key.size()).starts_with('='))
            return number_in_text(line.substr(key.size() + 1));
    }
    return 0;
}

/// Returns notes with a pixel size; empty unless both sides are known.
std::optional<InstrumentNotes> stated_size(const StatedPixelSize& pixel) {
    return pixel.x == 0 || pixel.y == 0 ? std::nullopt
                                        : std::optional(InstrumentNotes{.pixel = pixel});
}

std::optional<InstrumentNotes> fei(TIFF* file, std::string_view) {
    std::string text;
    for (const std::uint32_t tag : {34682U, 34680U}) {
        if (text.empty())
            text = text_of(private_tag(file, tag));
    }
    if (text.empty())
        return std::nullopt;
    const auto number = [&](const char* section, const char* key) {
        return number_in_section(text, section, key);
    };
    StatedPixelSize pixel{number("[Scan]", "PixelWidth"), number("[Scan]", "PixelHeight"), "m",
                          "m"};
    const double columns = number("[Image]", "ResolutionX"),
                 rows = number("[Image]", "ResolutionY");
    if (pixel.x == 0 && columns > 0 && rows > 0)
        pixel = {number("[IRBeam]", "HFW") / columns, number("[IRBeam]", "VFW") / rows, "m", "m"};
    return stated_size(pixel);
}

std::optional<InstrumentNotes> zeiss(TIFF* file, std::string_view) {
    constexpr std::uint32_t tag = 34118;
    const std::string text = text_of(private_tag(file, tag));
    std::uint32_t columns = 0;
    if (text.empty() || TIFFGetField(file, TIFFTAG_IMAGEWIDTH, &columns) != 1 || columns == 0)
        return std::nullopt;
    std::string_view rest = text;
    for (int line = 0; line < 3; ++line)
        take_line(rest);
    constexpr double displayed_columns = 1024;
    const double size = number_in_text(take_line(rest)) * displayed_columns / columns;
    return stated_size({size, size, "m", "m"});
}

std::string text_tag(TIFF* file, std::uint32_t number) {
    const char* stored = nullptr;
    TIFFGetField(file, number, &stored);
    return stored ? stored : "";
}

/// Returns the content of the first XML element of this name after `start`.
std::string_view element_text(std::string_view text, std::string_view start,
                              std::string_view name) {
    text.remove_prefix(std::min(text.find(start), text.size()));
    const std::string open = fmt::format("<{}>", name);
    const std::size_t at = text.find(open);
    return at == text.npos
               ? ""
               : text.substr(at + open.size(), text.find('<', at + 1) - at - open.size());
}

/// Returns the wavelength of an electron in nm; `energy` is in eV.
double electron_wavelength(double energy) {
    constexpr double planck_times_light = 1239.841984, rest_energy = 510998.95; // eV nm, eV
    return planck_times_light / std::sqrt(energy * (energy + 2 * rest_energy));
}

std::optional<InstrumentNotes> jeol(TIFF* file, std::string_view text) {
    if (text_tag(file, TIFFTAG_MAKE) != "JEOL Ltd." || text.find("<TemReporter") == text.npos)
        return std::nullopt;
    constexpr std::string_view imaging = "<ImageFormingSystem";
    const auto setting = [&](std::string_view name) { return element_text(text, imaging, name); };
    std::uint16_t per = RESUNIT_NONE;
    TIFFGetFieldDefaulted(file, TIFFTAG_RESOLUTIONUNIT, &per);
    const double value = number_in_text(setting("SelectorValue"));
    const double nanometres = per == RESUNIT_INCH ? 2.54e7 : per == RESUNIT_CENTIMETER ? 1e7 : 0;
    if (element_text(text, "<Eos>", "EosMode") != "eosTEM" || !(value > 0) || nanometres == 0)
        return InstrumentNotes{.pixel = StatedPixelSize{}};
    const auto scaled = [&](double factor, const char* unit) {
        const StatedPixelSize camera = resolved_pixel(file, unit);
        return InstrumentNotes{
            .pixel = StatedPixelSize{camera.x * factor, camera.y * factor, unit, unit}};
    };
    if (setting("ModeString") == "MAG")
        return scaled(nanometres / value, "nm");
    const double energy = number_in_text(element_text(text, "<ElectronGun", "AccelerationVoltage"));
    const std::string unit(setting("SelectorUnitString"));
    const double length = value * metres_of(unit) / metres_of("nm"); // camera length
    if (setting("ModeString") != "DIFF" || !(energy > 0) || !(length > 0))
        return InstrumentNotes{.pixel = StatedPixelSize{}};
    return scaled(nanometres / (length * electron_wavelength(energy)), "1/nm");
}

/// Returns the value of a key in text such as `ScalingXScale=1,ScalingXUnit="nm"`.
std::string_view setting_of(std::string_view text, const std::string& key) {
    const std::size_t at = text.find(key + "=");
    if (at == text.npos)
        return {};
    std::string_view value = text.substr(at + key.size() + 1);
    const bool quoted = value.starts_with('"');
    value.remove_prefix(quoted ? 1 : 0);
    return value.substr(0, value.find_first_of(quoted ? "\"" : ",["));
}

/// Returns the mean step of a table of floats at a position in the file; 0 if the table is not
/// within the file.
double step_of_table(TIFF* file, std::int64_t position, std::int64_t count) {
    auto& bytes = *static_cast<TiffBytes*>(TIFFClientdata(file));
    constexpr std::int64_t size = sizeof(float);
    if (count < 2 || position < 0 || position > bytes.size || bytes.size - position < count * size)
        return 0;
    const auto number = [&](std::int64_t i) {
        std::array<std::byte, sizeof(float)> stored{};
        bytes.read(position + i * size, stored);
        if (TIFFIsByteSwapped(file))
            std::ranges::reverse(stored);
        return static_cast<double>(std::bit_cast<float>(stored));
    };
    return (number(count - 1) - number(0)) / static_cast<double>(count - 1);
}

std::optional<InstrumentNotes> hamamatsu(TIFF* file, std::string_view text) {
    if (!text_tag(file, TIFFTAG_SOFTWARE).starts_with("HPD-TA"))
        return std::nullopt;
    text.remove_prefix(std::min(text.find("[Scaling]"), text.size()));
    std::uint32_t columns = 0, rows = 0;
    TIFFGetField(file, TIFFTAG_IMAGEWIDTH, &columns);
    TIFFGetField(file, TIFFTAG_IMAGELENGTH, &rows);
    const auto unit = [&](const char* axis) {
        return std::string(setting_of(text, std::string("Scaling") + axis + "Unit"));
    };
    const auto step = [&](const std::string& axis, std::int64_t count) {
        const std::string_view table = setting_of(text, "Scaling" + axis + "ScalingFile");
        return table.starts_with('#')
                   ? step_of_table(file, whole_number_in(table.substr(1), -1), count)
                   : number_in_text(setting_of(text, "Scaling" + axis + "Scale"));
    };
    if (tidy_unit(unit("X")).empty() && tidy_unit(unit("Y")).empty())
        return InstrumentNotes{.pixel = StatedPixelSize{}};
    return InstrumentNotes{
        .pixel = StatedPixelSize{step("X", columns), step("Y", rows), unit("X"), unit("Y")}};
}

} // namespace

std::optional<InstrumentNotes> instrument_notes(TIFF* file, std::string_view description) {
    for (const auto& read : {digital_micrograph, fei, zeiss, jeol, hamamatsu}) {
        if (auto notes = read(file, description))
            return notes;
    }
    return std::nullopt;
}

} // namespace sextant::format
