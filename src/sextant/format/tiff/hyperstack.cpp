// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/tiff/hyperstack.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/tiff/instruments.hpp"
#include "sextant/format/xml.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant::format {

namespace {

/// Upper bound on the step of an axis. No file has so many planes, and positions cannot overflow.
constexpr std::int64_t most_planes = std::int64_t{1} << 29;

} // namespace

PlanePosition PageAxes::position_of(std::int64_t page) const {
    const auto on = [&](const PageAxis& axis) { return page / axis.step % axis.count; };
    return {on(channels), on(slices), on(frames)};
}

std::int64_t PageAxes::planes() const {
    const PageAxis slowest = std::max({channels, slices, frames}, [](auto& a, auto& b) {
        return a.step < b.step || (a.step == b.step && a.count < b.count);
    });
    return slowest.step * slowest.count;
}

std::int64_t PageAxes::page_of(const PlanePosition& position) const {
    return position.channel * channels.step + position.slice * slices.step +
           position.frame * frames.step;
}

PageAxes in_order(PageAxes axes, std::string_view order) {
    std::int64_t step = 1;
    for (const char letter : order) {
        PageAxis& axis = letter == 'C' ? axes.channels : letter == 'Z' ? axes.slices : axes.frames;
        axis.step = step;
        step = step > most_planes / axis.count ? most_planes : step * axis.count;
    }
    return axes;
}

std::int64_t without_samples(std::int64_t channels, int samples) {
    return channels % samples == 0 ? channels / samples : channels;
}

double decimal_in(std::string_view text) {
    return std::strtod(std::string(text.substr(0, 64)).c_str(), nullptr);
}

std::int64_t length_of_axis(std::string_view text) {
    return std::clamp<std::int64_t>(whole_number_in(text, 1), 1, longest_axis);
}

namespace {

/// Returns the value of `key` in text with one "key=value" per line, which ImageJ writes.
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

/// Decodes the \uXXXX escapes of Java properties to UTF-8.
std::string unescaped(std::string_view text) {
    std::string all;
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::uint32_t code = 0;
        if (text.substr(i, 2) == "\\u" && i + 6 <= text.size() &&
            std::from_chars(text.data() + i + 2, text.data() + i + 6, code, 16).ptr ==
                text.data() + i + 6) {
            i += 5;
            all += utf8_of(code);
        } else {
            all += text[i];
        }
    }
    return all;
}

StatedPixelSize pixel_in_centimetres(TIFF* file) {
    std::uint16_t unit = RESUNIT_NONE;
    TIFFGetFieldDefaulted(file, TIFFTAG_RESOLUTIONUNIT, &unit);
    return unit == RESUNIT_CENTIMETER ? resolved_pixel(file, "cm") : StatedPixelSize();
}

/// Reads ImageJ's metadata. Like ImageJ, accepts the axes only if the product of their lengths is
/// the number of images.
TiffNotes imagej_notes(TIFF* file, std::string_view text, std::int64_t pages) {
    TiffNotes notes;
    // ImageJ states the units of y and z only if they differ from the unit of x.
    const auto unit_or = [&](std::string_view key, const std::string& otherwise) {
        const std::string stated = unescaped(value_of(text, key));
        return stated.empty() ? otherwise : tidy_unit(stated);
    };
    const std::string x_unit = unit_or("unit", "");
    const std::string y_unit = unit_or("yunit", x_unit);
    if (!x_unit.empty() || !y_unit.empty())
        notes.pixel = resolved_pixel(file, x_unit);
    notes.pixel.y_unit = y_unit;
    notes.slice_distance =
        decimal_in(value_of(text, "spacing")) * unit_factor(unit_or("zunit", x_unit), x_unit);
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

/// Reads tifffile's metadata: {"shape": [5, 2, 512, 512], "axes": "TCYX"}.
TiffNotes shaped_notes(TIFF* file, std::string_view text, const std::string& path,
                       std::int64_t pages, int samples) {
    TiffNotes notes;
    notes.pixel = pixel_in_centimetres(file);
    constexpr std::size_t longest = 1 << 16;
    std::vector<std::int64_t> sides;
    std::string letters;
    try {
        const JsonField json = JsonField::parse(text.substr(0, longest), path, {.keys = longest});
        for (const JsonField& side : json.at("shape").items())
            sides.push_back(
                std::clamp<std::int64_t>(side.integer(INT64_MIN, INT64_MAX), 1, longest_axis));
        letters = json.text_or_empty("axes");
    } catch (const InvalidFile&) {
        return notes; // tifffile did not write the file
    }
    const std::size_t leading = letters.find('Y');
    const bool known = letters.size() == sides.size() && leading != std::string::npos &&
                       letters.find_first_not_of("TCZ") == leading;
    if (!known) {
        if (sides.size() > 3 && pages > 1 && letters.find('S') == std::string::npos)
            notes.remarks.push_back(
                fmt::format("the axes are not named: all {} planes are read as frames", pages));
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

namespace {

/// True if the text has the root element of OME-XML.
bool is_ome(std::string_view text) {
    bool is = false;
    for_each_xml_tag(text, [&](const XmlTag& tag) {
        is = tag.name == "OME";
        return false;
    });
    return is;
}

/// Reads the metadata in the description of a page.
TiffNotes described_notes(TIFF* file, std::string_view text, const std::string& path,
                          std::int64_t pages, int samples) {
    if (text.starts_with("ImageJ=") || text.starts_with("SCIFIO="))
        return imagej_notes(file, text, pages);
    if (is_ome(text))
        return ome_notes(text, path, pages, samples);
    if (text.starts_with('{'))
        return shaped_notes(file, text, path, pages, samples);
    TiffNotes notes;
    notes.pixel = pixel_in_centimetres(file);
    return notes;
}

} // namespace

TiffNotes read_notes(TIFF* file, const std::string& path, std::int64_t pages, int samples) {
    const char* stored = nullptr;
    TIFFGetField(file, TIFFTAG_IMAGEDESCRIPTION, &stored);
    TiffNotes notes = described_notes(file, stored ? stored : "", path, pages, samples);
    if (const auto instrument = instrument_notes(file, stored ? stored : "")) {
        notes.pixel = instrument->pixel.value_or(notes.pixel);
        if (instrument->frame_interval > 0)
            notes.frame_interval = instrument->frame_interval;
    }
    return notes;
}

namespace {

/// The file that a TiffData element names.
struct PlaneFile {
    std::string name, uuid;
};

/// An element that assigns pages to planes.
struct TiffData {
    XmlTag tag;
    PlaneFile file = {};
};

/// The elements of OME-XML for the first image.
struct OmeImage {
    std::string uuid; ///< the UUID of the file
    std::optional<XmlTag> pixels;
    std::vector<TiffData> data;
};

/// Reads the elements of the first image, with at most `most` TiffData elements.
OmeImage ome_image(std::string_view text, std::size_t most) {
    OmeImage image;
    for_each_xml_tag(text, [&](const XmlTag& tag) {
        if (tag.name == "OME")
            image.uuid = tag.attribute("UUID");
        else if (tag.name == "Pixels" && image.pixels)
            return false;
        else if (tag.name == "Pixels")
            image.pixels = tag;
        else if (tag.name == "TiffData" && image.pixels && image.data.size() == most)
            return false;
        else if (tag.name == "TiffData" && image.pixels)
            image.data.push_back({tag});
        else if (tag.name == "UUID" && !image.data.empty())
            image.data.back().file = {tag.attribute("FileName"), tag.text};
        return true;
    });
    return image;
}

/// Determines whether the planes of a TiffData element are in this file, by the UUID of their file
/// or, if there is none, by its name. If all elements name the same file, that file is this one,
/// which may have been renamed.
class OwnPlanes {
  public:
    OwnPlanes(const OmeImage& image, const std::string& name) : own_{name, image.uuid} {
        alone_ = std::ranges::all_of(image.data, [&](const TiffData& data) {
            return data.file.name == image.data.front().file.name;
        });
    }
    bool has(const PlaneFile& file) const {
        if (!own_.uuid.empty() && !file.uuid.empty())
            return own_.uuid == file.uuid;
        return alone_ || file.name.empty() || file.name == own_.name;
    }

  private:
    PlaneFile own_;
    bool alone_ = false;
};

/// Assigns pages to planes as stated by the TiffData elements.
void read_positions(const std::vector<TiffData>& data, const OwnPlanes& own, std::int64_t pages,
                    TiffNotes& notes) {
    const PageAxes& axes = *notes.axes;
    notes.positions.resize(static_cast<std::size_t>(pages));
    for (const auto& [tag, file] : data) {
        if (!own.has(file))
            continue;
        const auto number = [&, &tag = tag](const char* name, std::int64_t otherwise) {
            return whole_number_in(tag.attribute(name), otherwise);
        };
        const auto first = [&](const char* name) {
            return std::min(number(name, 0), longest_axis);
        };
        const std::int64_t page = number("IFD", 0);
        const bool one = !tag.attribute("IFD").empty();
        const std::int64_t count = number("PlaneCount", one ? 1 : longest_axis);
        const std::int64_t plane =
            axes.page_of({first("FirstC"), first("FirstZ"), first("FirstT")});
        const std::int64_t stated = std::min(count, axes.planes() - plane);
        notes.cut_off = notes.cut_off || stated > pages - page;
        for (std::int64_t i = 0; i < std::min(stated, pages - page); ++i)
            notes.positions[static_cast<std::size_t>(page + i)] = axes.position_of(plane + i);
    }
}

} // namespace

TiffNotes ome_notes(std::string_view text, const std::string& path, std::int64_t pages,
                    int samples) {
    TiffNotes notes;
    const OmeImage image = ome_image(text, static_cast<std::size_t>(pages) + 1);
    if (!image.pixels)
        return notes;
    const auto stated = [&](const char* name) { return image.pixels->attribute(name); };
    const auto unit = [&](const char* name, const char* otherwise) {
        return stated(name).empty() ? otherwise : stated(name);
    };
    const auto size = [&](const char* name) { return decimal_in(stated(name)); };
    // The default unit is µm. If only some units are stated, the others were probably forgotten.
    const bool default_units =
        stated("PhysicalSizeXUnit").empty() && stated("PhysicalSizeYUnit").empty();
    const char* const otherwise = default_units ? "µm" : "";
    const std::string x_unit = unit("PhysicalSizeXUnit", otherwise);
    notes.pixel = {size("PhysicalSizeX"), size("PhysicalSizeY"), x_unit,
                   unit("PhysicalSizeYUnit", otherwise)};
    notes.slice_distance =
        size("PhysicalSizeZ") *
        unit_factor(tidy_unit(unit("PhysicalSizeZUnit", otherwise)), tidy_unit(x_unit));
    notes.frame_interval =
        believable_interval(decimal_in(stated("TimeIncrement")), unit("TimeIncrementUnit", "s"));
    if (stated("SizeC").empty() && stated("SizeZ").empty() && stated("SizeT").empty())
        return notes;
    PageAxes axes;
    axes.channels.count = length_of_axis(stated("SizeC"));
    axes.slices.count = length_of_axis(stated("SizeZ"));
    axes.frames.count = length_of_axis(stated("SizeT"));
    axes.channels.count = without_samples(axes.channels.count, samples);
    const std::string order = stated("DimensionOrder");
    const bool known = order.size() == 5 && order.starts_with("XY");
    notes.axes = in_order(axes, known ? order.substr(2) : "ZCT");
    if (!image.data.empty())
        read_positions(image.data, {image, std::filesystem::path(path).filename().string()}, pages,
                       notes);
    return notes;
}

PlaneChoice choose_planes(const std::string& path, const TiffNotes& notes, const TiffPage& page,
                          std::int64_t pages, const SourceOptions& options, FrameHeader& header) {
    PlaneChoice choice;
    choice.pages = notes.axes.value_or(PageAxes{{}, {}, {std::max(pages, notes.images)}});
    ArrayInFile& array = choice.array;
    array = {{choice.pages.frames.count}, 0, 0, "t", header.frame_interval};
    for (const auto& [length, name] :
         {std::pair(choice.pages.slices.count, 'z'),
          std::pair(choice.pages.channels.count * page.channels, 'c')}) {
        if (length > 1) {
            array.lengths.push_back(length);
            array.names += name;
        }
    }
    array.row_axis = array.lengths.size();
    array.column_axis = array.row_axis + 1;
    array.lengths.insert(array.lengths.end(), {header.shape.height, header.shape.width});
    array.names += "yx";
    SourceOptions of_planes = options;
    of_planes.axes.clear();
    of_planes.every_plane = options.every_plane && page.channels == 1;
    choice.axes = choose_frame_axes(path, array, of_planes, header);
    if (!of_planes.every_plane)
        header.axes = {};
    choice.sample = static_cast<int>(header.hyperstack.channel % page.channels);
    for (std::size_t axis = 0; axis < array.names.size(); ++axis) {
        if (array.names[axis] == 'c') // interleaved channels are on the same page
            choice.axes.fixed[axis] /= page.channels;
    }
    return choice;
}

std::int64_t PlaneChoice::position_on(std::size_t axis, const PlanePosition& plane) const {
    const char name = array.names[axis];
    return name == 't' ? plane.frame : name == 'z' ? plane.slice : plane.channel;
}

void keep_frames(std::vector<TiffPage>& pages, const TiffNotes& notes, const PlaneChoice& choice,
                 FrameHeader& header) {
    struct Kept {
        std::int64_t frame, page;
    };
    std::vector<Kept> kept;
    std::int64_t strange = 0;
    const std::int64_t found = std::ssize(pages);
    for (std::int64_t page = 0; page < found; ++page) {
        std::optional<PlanePosition> plane;
        if (!notes.positions.empty())
            plane = notes.positions[static_cast<std::size_t>(page)];
        else if (page < choice.pages.planes())
            plane = choice.pages.position_of(page);
        if (!plane) {
            ++strange;
            continue;
        }
        std::vector<std::int64_t> position = choice.axes.fixed;
        bool wanted = true;
        for (std::size_t axis = 0; axis < choice.array.row_axis; ++axis) {
            const std::int64_t at = choice.position_on(axis, *plane);
            wanted = wanted &&
                     (at == position[axis] || std::ranges::count(choice.axes.frames, axis) > 0);
            position[axis] = at;
        }
        if (wanted)
            kept.push_back({choice.axes.frame_of(position, choice.array.lengths), page});
    }
    if (strange > 0) {
        header.remarks.push_back(fmt::format(
            "{} of {} pages do not belong to the first image and are ignored", strange, found));
    }
    std::stable_sort(kept.begin(), kept.end(),
                     [](const Kept& a, const Kept& b) { return a.frame < b.frame; });
    std::vector<TiffPage> frames;
    for (const Kept& one : kept)
        frames.push_back(std::move(pages[static_cast<std::size_t>(one.page)]));
    pages = std::move(frames);
    if (notes.positions.empty() || notes.cut_off || std::ssize(pages) == header.frames)
        return;
    header.remarks.push_back(fmt::format("{} of {} frames are in other files",
                                         header.frames - std::ssize(pages), header.frames));
    header.frames = std::ssize(pages);
}

} // namespace sextant::format
