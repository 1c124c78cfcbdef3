// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/tiff_ome.hpp"

#include "sextant/format/frame_check.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace sextant::format {

namespace {

/// The value of an attribute of XML.
std::string_view attribute_of(std::string_view element, std::string_view name) {
    const std::string start = fmt::format(" {}=\"", name);
    const std::size_t at = element.find(start);
    if (at == std::string_view::npos)
        return {};
    const std::size_t value = at + start.size();
    return element.substr(value, element.find('"', value) - value);
}

/// The parts of XML from each start of an element to the next one's.
std::vector<std::string_view> elements_of(std::string_view text, std::string_view name,
                                          std::size_t most) {
    std::vector<std::string_view> elements;
    const std::string start = fmt::format("<{} ", name);
    for (std::size_t at = text.find(start);
         at != std::string_view::npos && elements.size() < most;) {
        const std::size_t next = text.find(start, at + 1);
        elements.push_back(text.substr(at, next - at));
        at = next;
    }
    return elements;
}

/// What a TiffData element says of the file that holds its planes.
struct PlaneFile {
    std::string_view name, uuid;
};

PlaneFile file_of(std::string_view element) {
    const std::size_t at = element.find("<UUID");
    if (at == std::string_view::npos)
        return {};
    const std::size_t start = std::min(element.find('>', at), element.size() - 1) + 1;
    return {attribute_of(element.substr(at), "FileName"),
            element.substr(start, element.find('<', start) - start)};
}

/// The opening tag of OME's root element.
std::string_view root_of(std::string_view text) {
    const std::string_view rest = text.substr(std::min(text.find("<OME"), text.size()));
    return rest.substr(0, rest.find('>'));
}

/// Whether planes are in this file: by its identifier, or else by its name, unless all planes are
/// in one file, which may have been renamed.
class OwnPlanes {
  public:
    OwnPlanes(std::string_view text, const std::string& name,
              const std::vector<std::string_view>& data)
        : own_{name, attribute_of(root_of(text), "UUID")} {
        alone_ = std::all_of(data.begin(), data.end(), [&](std::string_view element) {
            return file_of(element).name == file_of(data.front()).name;
        });
    }
    bool has(std::string_view element) const {
        const PlaneFile file = file_of(element);
        if (!own_.uuid.empty() && !file.uuid.empty())
            return own_.uuid == file.uuid;
        return alone_ || file.name.empty() || file.name == own_.name;
    }

  private:
    PlaneFile own_;
    bool alone_ = false;
};

/// Pages that TiffData elements assign to planes one by one.
void read_positions(const std::vector<std::string_view>& data, const OwnPlanes& own,
                    std::int64_t pages, TiffNotes& notes) {
    const PageAxes& axes = *notes.axes;
    notes.positions.resize(static_cast<std::size_t>(pages));
    for (const std::string_view element : data) {
        const std::string_view tag = element.substr(0, element.find('>'));
        if (!own.has(element))
            continue;
        const auto first = [&](const char* name) {
            return std::min(whole_number_in(attribute_of(tag, name), 0), longest_axis);
        };
        const std::int64_t page = whole_number_in(attribute_of(tag, "IFD"), 0);
        const bool one = !attribute_of(tag, "IFD").empty();
        const std::int64_t count =
            whole_number_in(attribute_of(tag, "PlaneCount"), one ? 1 : longest_axis);
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
    const auto images = elements_of(text, "Pixels", 2);
    if (images.empty())
        return notes;
    const std::string_view image = images.front();
    const std::string_view pixels = image.substr(0, image.find('>'));
    const auto unit = [&](const char* name, const char* otherwise) {
        const std::string_view stated = attribute_of(pixels, name);
        return std::string(stated.empty() ? otherwise : stated);
    };
    notes.pixel = {decimal_in(attribute_of(pixels, "PhysicalSizeX")),
                   decimal_in(attribute_of(pixels, "PhysicalSizeY")),
                   tidy_unit(unit("PhysicalSizeXUnit", "µm"))};
    notes.frame_interval = believable_interval(decimal_in(attribute_of(pixels, "TimeIncrement")),
                                               unit("TimeIncrementUnit", "s"));
    if (attribute_of(pixels, "SizeC").empty() && attribute_of(pixels, "SizeZ").empty() &&
        attribute_of(pixels, "SizeT").empty())
        return notes;
    PageAxes axes;
    axes.channels.count = length_of_axis(attribute_of(pixels, "SizeC"));
    axes.slices.count = length_of_axis(attribute_of(pixels, "SizeZ"));
    axes.frames.count = length_of_axis(attribute_of(pixels, "SizeT"));
    axes.channels.count = without_samples(axes.channels.count, samples);
    const std::string_view stated = attribute_of(pixels, "DimensionOrder");
    const bool known = stated.size() == 5 && stated.starts_with("XY");
    notes.axes = in_order(axes, known ? stated.substr(2) : "ZCT");
    const auto data = elements_of(image, "TiffData", static_cast<std::size_t>(pages) + 1);
    if (!data.empty()) {
        const OwnPlanes own(text, std::filesystem::path(path).filename().string(), data);
        read_positions(data, own, pages, notes);
    }
    return notes;
}

} // namespace sextant::format
