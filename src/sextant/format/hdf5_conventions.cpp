// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/hdf5_conventions.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/hdf5_references.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::format {

namespace {

std::string parent_of(const std::string& name) {
    return name.substr(0, name.rfind('/'));
}

bool is_image(const Hdf5Dataset& dataset) {
    return dataset.sample && dataset.sides.size() >= 2;
}

Hdf5Series with_last_axes(const Hdf5Dataset& dataset) {
    const std::size_t axes = dataset.sides.size();
    return {dataset, axes - 2, axes - 1};
}

/// Returns Velox's metadata of the first frame: JSON in a column of bytes.
std::string first_column(const Hdf5Input& file, const std::string& name) {
    const auto described = describe_hdf5(file, name);
    constexpr std::int64_t longest = 1 << 20;
    if (!described || described->sample != Sample::u8 || described->sides.size() != 2 ||
        described->sides[0] > longest || described->sides[1] < 1)
        return "";
    const std::array<hsize_t, 2> start{0, 0}, count{static_cast<hsize_t>(described->sides[0]), 1};
    std::string text(static_cast<std::size_t>(described->sides[0]), '\0');
    if (!read_hdf5_block(file, name, start, count, H5T_NATIVE_UINT8, text.data()))
        return "";
    return text.substr(0, text.find('\0'));
}

/// Velox stores numbers as strings.
double number_in_json(const nlohmann::json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end())
        return 0;
    return found->is_string()   ? std::strtod(found->get_ref<const std::string&>().c_str(), nullptr)
           : found->is_number() ? found->get<double>()
                                : 0;
}

PixelSize velox_pixel(const Hdf5Input& file, const std::string& dataset) {
    const auto json =
        nlohmann::json::parse(first_column(file, parent_of(dataset) + "/Metadata"), nullptr, false);
    if (!json.is_object() || !json.contains("BinaryResult"))
        return {};
    const auto& result = json["BinaryResult"];
    if (!result.is_object() || !result.contains("PixelSize") || !result["PixelSize"].is_object())
        return {};
    const auto& size = result["PixelSize"];
    const auto unit = result.find("PixelUnitX");
    const bool stated = unit != result.end() && unit->is_string();
    return {number_in_json(size, "width"), number_in_json(size, "height"),
            stated ? tidy_unit(unit->get_ref<const std::string&>()) : ""};
}

std::optional<Hdf5Series> velox(const Hdf5Input& file, const Hdf5Dataset& dataset) {
    const bool there = dataset.name.starts_with("/Data/Image/") && dataset.name.ends_with("/Data");
    if (!there || dataset.sides.size() > 3)
        return std::nullopt;
    return Hdf5Series{dataset, 0, 1, velox_pixel(file, dataset.name)};
}

/// Berkeley groups have a vector of positions for each axis, numbered from 1.
std::optional<Hdf5Series> berkeley(const Hdf5Input& file, const Hdf5Dataset& dataset) {
    const std::string group = parent_of(dataset.name);
    if (group.empty() || !hdf5_number(file, group, "emd_group_type"))
        return std::nullopt;
    Hdf5Series series = with_last_axes(dataset);
    const auto step = [&](std::size_t axis) {
        const auto values = hdf5_values(file, fmt::format("{}/dim{}", group, axis + 1), 2);
        return values.size() == 2 ? values[1] - values[0] : 0;
    };
    if (dataset.sides.size() == 3 && describe_hdf5(file, group + "/dim1"))
        series.frame_interval =
            believable_interval(step(0), hdf5_text(file, group + "/dim1", "units"));
    const std::string vector = fmt::format("{}/dim{}", group, series.column_axis + 1);
    if (describe_hdf5(file, vector)) {
        series.pixel = {step(series.column_axis), step(series.row_axis),
                        tidy_unit(hdf5_text(file, vector, "units"))};
    }
    return series;
}

/// HyperSpy groups describe each axis, numbered from 0, by attributes.
std::optional<Hdf5Series> hyperspy(const Hdf5Input& file, const Hdf5Dataset& dataset) {
    const std::string group = parent_of(dataset.name);
    if (!dataset.name.starts_with("/Experiments/") || !dataset.name.ends_with("/data"))
        return std::nullopt;
    Hdf5Series series = with_last_axes(dataset);
    const auto axis = [&](std::size_t number) { return fmt::format("{}/axis-{}", group, number); };
    const auto scale = [&](std::size_t number) {
        const std::string name = axis(number);
        if (H5Lexists(file.id(), name.c_str(), H5P_DEFAULT) <= 0)
            return 0.0;
        return hdf5_number(file, name, "scale").value_or(0);
    };
    series.pixel = {scale(series.column_axis), scale(series.row_axis), ""};
    if (series.pixel.known())
        series.pixel.unit = tidy_unit(hdf5_text(file, axis(series.column_axis), "units"));
    if (dataset.sides.size() == 3 && scale(0) > 0)
        series.frame_interval = believable_interval(scale(0), hdf5_text(file, axis(0), "units"));
    return series;
}

std::optional<Hdf5Series> plain(const Hdf5Input&, const Hdf5Dataset& dataset) {
    return with_last_axes(dataset);
}

/// In order of priority.
constexpr std::array conventions{velox, berkeley, hyperspy, plain};

Hdf5Series by_name(const Hdf5Input& file, const std::string& wanted) {
    const std::string name = wanted.starts_with('/') ? wanted : "/" + wanted;
    const auto dataset = describe_hdf5(file, name);
    if (!dataset) {
        const std::string link = complaint_of_link();
        throw InvalidFile(file.path(), link.empty() ? fmt::format("has no dataset {}", name)
                                                    : fmt::format("{} {}", name, link));
    }
    if (!is_image(*dataset)) {
        throw InvalidFile(
            file.path(),
            fmt::format("dataset {} has {} axes of {}, expected at least two, "
                        "of integers or floats of 8 to 64 bits",
                        name, dataset->sides.size(),
                        dataset->sample ? sextant::name(*dataset->sample) : "something else"));
    }
    for (const auto& convention : conventions) {
        if (auto series = convention(file, *dataset))
            return *series;
    }
    return with_last_axes(*dataset);
}

std::string names_of(const std::vector<Hdf5Dataset>& datasets, std::size_t except) {
    constexpr std::size_t most = 8;
    std::string names;
    std::size_t named = 0;
    for (std::size_t i = 0; i < datasets.size(); ++i) {
        if (i == except)
            continue;
        if (++named > most)
            return names + ", ...";
        names += (names.empty() ? "" : ", ") + datasets[i].name;
    }
    return names;
}

} // namespace

Hdf5Series find_hdf5_series(const Hdf5Input& file, const std::string& wanted,
                            std::vector<std::string>& remarks) {
    if (!wanted.empty())
        return by_name(file, wanted);
    Hdf5Contents contents = list_hdf5(file);
    std::vector<Hdf5Dataset>& images = contents.datasets;
    std::erase_if(images, [](const Hdf5Dataset& dataset) { return !is_image(dataset); });
    for (const auto& convention : conventions) {
        std::vector<Hdf5Dataset> found;
        std::copy_if(
            images.begin(), images.end(), std::back_inserter(found),
            [&](const Hdf5Dataset& dataset) { return convention(file, dataset).has_value(); });
        if (found.empty())
            continue;
        const auto largest =
            std::max_element(found.begin(), found.end(), [](const auto& a, const auto& b) {
                return a.elements() < b.elements();
            });
        const auto index = static_cast<std::size_t>(largest - found.begin());
        if (found.size() > 1) {
            remarks.push_back(fmt::format("read is {}; there are also {}", largest->name,
                                          names_of(found, index)));
        }
        return *convention(file, *largest);
    }
    const std::string what = "has no dataset of integers or floats of two axes or more";
    throw InvalidFile(file.path(),
                      contents.links.empty() || file.allows_external()
                          ? what
                          : fmt::format("{}, but links to other files, such as {}: those are "
                                        "followed with --allow-external",
                                        what, contents.links.front()));
}

} // namespace sextant::format
