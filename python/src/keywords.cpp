// SPDX-License-Identifier: BSD-3-Clause
#include "keywords.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::python {

namespace {

/// Throws InvalidTask if a field that `other` does not have differs from its default.
void refuse_others(const Record& given, const Record& usual, const Record& other,
                   std::string_view what) {
    for (const Field& field : given.fields) {
        if (!other.find(field.name) && field.text() != usual.find(field.name)->text())
            throw InvalidTask(
                fmt::format("{} has no effect here: the input is {}", field.name, what));
    }
}

/// Sets the neighbours of an image or volume. Throws InvalidTask if they are not for it.
template <class Options>
void set_neighbours(Options& options, const std::string& neighbours, std::string_view what) {
    if (neighbours.empty())
        return;
    Record record = record_of(options);
    const Field& field = record["neighbours"];
    if (std::ranges::find(field.choices, neighbours) == field.choices.end())
        throw InvalidTask(fmt::format("neighbours {}: the input is {}, expected one of {}",
                                      neighbours, what, fmt::join(field.choices, ", ")));
    field.set(neighbours);
}

} // namespace

Record record_of(LabelKeywords& keywords) {
    Record record, image = record_of(keywords.image), volume = record_of(keywords.volume), volumes;
    record
        .add("neighbours", keywords.neighbours, "N",
             "connectivity; default: 8 in images, 26 in volumes")
        .one_of({"4", "8", "6", "18", "26"});
    for (Field& field : volume.fields) {
        if (image.find(field.name) || field.name == "threads")
            continue;
        field.meaning = "volumes: " + field.meaning;
        volumes.fields.push_back(std::move(field));
    }
    image.include(std::move(volumes), "measure").without("neighbours");
    image["measure"].meaning = "measure each component";
    return record.include(std::move(image));
}

LabelOptions LabelKeywords::of_image() const {
    LabelOptions options = image;
    VolumeLabelOptions given = volume, usual;
    refuse_others(record_of(given), record_of(usual), record_of(options), "an image");
    set_neighbours(options, neighbours, "an image");
    return options;
}

VolumeLabelOptions LabelKeywords::of_volume() const {
    VolumeLabelOptions options = volume;
    LabelOptions given = image, usual;
    refuse_others(record_of(given), record_of(usual), record_of(options), "a volume");
    set_neighbours(options, neighbours, "a volume");
    options.by_value = image.by_value;
    options.measure = image.measure;
    options.memory = image.memory;
    return options;
}

Record filter_record(FilterOptions& options) {
    Record record = record_of(options);
    record["sigma"].kind = Field::Kind::integers; // which may be a list
    return record;
}

Record record_of(MeasureKeywords& keywords) {
    Record record, all = record_of(keywords.volume);
    all["memory"].meaning = "memory limit for samples; larger volumes are read in slabs";
    record.fields.push_back(std::move(all["memory"]));
    return record;
}

} // namespace sextant::python
