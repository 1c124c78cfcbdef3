// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/manifest.hpp"

#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/format/checks.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::format {

namespace {

using Json = nlohmann::json;

constexpr std::int64_t current_version = 1;

/// Checks a manifest's fields and converts them to Partials; errors name file and field.
class Manifest {
  public:
    Manifest(const std::string& path, Json content) : path_(path), content_(std::move(content)) {
        if (!content_.is_object())
            fail("is " + shown(content_) + ", expected a JSON object");
        const Json version = content_.value("version", Json(current_version));
        if (version != current_version)
            fail_value("version", version, std::to_string(current_version));
    }

    ImageHeader header() const;
    Partials partials() const;

  private:
    [[noreturn]] void fail(const std::string& what) const { throw InvalidFile(path_, what); }
    [[noreturn]] void fail_value(const std::string& field, const Json& value,
                                 const std::string& expected) const {
        fail(fmt::format("{} is {}, expected {}", field, shown(value), expected));
    }
    const Json& required(const std::string& field) const;
    const Json& array(const std::string& field) const;
    std::int64_t integer(const std::string& field, const Json& value, std::int64_t from,
                         std::int64_t to, const std::string& meaning) const;
    std::vector<std::string> files(const ElementFormat& element) const;
    std::string file(int number, const Json& brick, int id, const ElementFormat& element) const;
    std::vector<int> order(int partials, const ElementFormat& element) const;
    std::vector<int> permutation(const std::string& meaning, const std::vector<const Json*>& values,
                                 const std::vector<std::string>& names) const;

    std::string path_;
    Json content_;
};

const Json& Manifest::required(const std::string& field) const {
    const auto found = content_.find(field);
    if (found == content_.end())
        fail(field + " is missing");
    return *found;
}

const Json& Manifest::array(const std::string& field) const {
    const Json& value = required(field);
    if (!value.is_array())
        fail_value(field, value, "an array");
    return value;
}

std::int64_t Manifest::integer(const std::string& field, const Json& value, std::int64_t from,
                               std::int64_t to, const std::string& meaning) const {
    const std::string expected = fmt::format("{} from {} to {}", meaning, from, to);
    if (!value.is_number_integer())
        fail_value(field, value, expected);
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    const bool too_long = value.is_number_unsigned() && value.get<std::uint64_t>() > most;
    if (too_long || value.get<std::int64_t>() < from || value.get<std::int64_t>() > to) {
        fail_value(field, value, expected);
    }
    return value.get<std::int64_t>();
}

ImageHeader Manifest::header() const {
    const Json& size = array("size");
    if (size.size() != 2)
        fail_value("size", size, "[width, height] in pixels");
    const std::int64_t width = integer("size[0]", size[0], 1, maximum_pixels, "a width in pixels");
    const std::int64_t height =
        integer("size[1]", size[1], 1, maximum_pixels, "a height in pixels");
    if (width > maximum_pixels / height) {
        fail(fmt::format("size is {}×{}, expected at most {} pixels", width, height,
                         maximum_pixels));
    }
    const Json element = content_.value("element", Json(rgba_f32.name));
    if (element == rgba_f32.name)
        return {{width, height}, rgba_f32};
    if (element == rgba_depth_f32.name)
        return {{width, height}, rgba_depth_f32};
    fail_value("element", element,
               fmt::format("\"{}\" or \"{}\"", rgba_f32.name, rgba_depth_f32.name));
}

Partials Manifest::partials() const {
    const auto [shape, element] = header();
    if (const auto text = content_.find("format"); text != content_.end() && !text->is_string()) {
        fail_value("format", *text, "a string");
    }
    std::vector<std::string> paths = files(element);
    std::vector<int> front_to_back = order(static_cast<int>(paths.size()), element);
    return {shape, element, std::move(paths), std::move(front_to_back)};
}

/// Returns `values`, which must be a permutation of 0 to n - 1. `names` are the fields.
std::vector<int> Manifest::permutation(const std::string& meaning,
                                       const std::vector<const Json*>& values,
                                       const std::vector<std::string>& names) const {
    std::vector<int> numbers;
    std::vector<std::size_t> seen(values.size(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto last = static_cast<std::int64_t>(values.size()) - 1;
        const std::int64_t number = integer(names[i], *values[i], 0, last, meaning);
        std::size_t& first = seen[static_cast<std::size_t>(number)];
        if (first < i)
            fail(fmt::format("{} is {}, the same as {}", names[i], number, names[first]));
        first = i;
        numbers.push_back(static_cast<int>(number));
    }
    return numbers;
}

std::vector<std::string> Manifest::files(const ElementFormat& element) const {
    const Json& bricks = array("bricks");
    if (bricks.empty())
        fail("bricks is empty, expected one or more partial images");
    std::vector<const Json*> values;
    std::vector<std::string> names;
    for (const Json& brick : bricks) {
        const std::string name = fmt::format("bricks[{}]", names.size());
        if (!brick.is_object())
            fail_value(name, brick, "an object");
        if (!brick.contains("id"))
            fail(name + ".id is missing");
        values.push_back(&brick.at("id"));
        names.push_back(name + ".id");
    }
    const std::vector<int> ids = permutation("the number of a partial image", values, names);
    std::vector<std::string> paths(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
        paths[static_cast<std::size_t>(ids[i])] =
            file(static_cast<int>(i), bricks[i], ids[i], element);
    }
    return paths;
}

std::string Manifest::file(int number, const Json& brick, int id,
                           const ElementFormat& element) const {
    const std::string field = fmt::format("bricks[{}].file", number);
    const char* extension = element == rgba_depth_f32 ? "rgbaz32f" : "rgba32f";
    const Json name = brick.value("file", Json(fmt::format("partial_{}.{}.zst", id, extension)));
    if (!name.is_string() || name.get<std::string>().empty()) {
        fail_value(field, name, "the name of an image file");
    }
    const auto file = std::filesystem::path(path_).parent_path() / name.get<std::string>();
    try {
        format_of(file.string());
    } catch (const InvalidFile& error) {
        fail(fmt::format("{}: {}", field, error.what()));
    }
    return file.string();
}

std::vector<int> Manifest::order(int partials, const ElementFormat& element) const {
    const std::string field = "order_front_to_back";
    if (element == rgba_depth_f32 && !content_.contains(field)) {
        std::vector<int> any(static_cast<std::size_t>(partials)); // any order: pixels have depth
        std::iota(any.begin(), any.end(), 0);
        return any;
    }
    const Json& listed = array(field);
    if (listed.size() != static_cast<std::size_t>(partials)) {
        fail(fmt::format("{} has {} numbers, expected {}, one per brick", field, listed.size(),
                         partials));
    }
    std::vector<const Json*> values;
    std::vector<std::string> names;
    for (const Json& value : listed) {
        names.push_back(fmt::format("{}[{}]", field, names.size()));
        values.push_back(&value);
    }
    return permutation("the id of a brick", values, names);
}

void require_files(const std::string& path, const Partials& partials) {
    for (std::size_t i = 0; i < partials.paths.size(); ++i) {
        std::error_code error;
        if (std::filesystem::is_regular_file(partials.paths[i], error))
            continue;
        throw InvalidFile(path, fmt::format("partial {} is {}, which {}", i, partials.paths[i],
                                            std::filesystem::exists(partials.paths[i], error)
                                                ? "is not a file"
                                                : "does not exist"));
    }
}

} // namespace

bool is_manifest(const std::string& path) {
    return has_extension(path, ".json");
}

ImageHeader read_manifest_header(const std::string& path) {
    return Manifest(path, read_json(path)).header();
}

Partials read_manifest(const std::string& path) {
    Partials partials = Manifest(path, read_json(path)).partials();
    require_files(path, partials);
    return partials;
}

void write_manifest(const std::string& path, const Partials& partials) {
    const auto folder = std::filesystem::absolute(path).parent_path();
    // Keys keep this order in the file, the most important first.
    nlohmann::ordered_json content;
    content["version"] = current_version;
    content["size"] = {partials.shape.width, partials.shape.height};
    content["element"] = partials.element.name;
    content["format"] = "little-endian floats, premultiplied, row 0 = top";
    content["order_front_to_back"] = partials.order;
    content["bricks"] = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < partials.paths.size(); ++i) {
        const auto file = std::filesystem::absolute(partials.paths[i]).lexically_proximate(folder);
        content["bricks"].push_back({{"id", i}, {"file", file.generic_string()}});
    }
    Manifest(path, Json(content)).partials(); // throws if it could not be read back
    write_file(path, sextant::to_text(content, 1) + "\n");
}

} // namespace sextant::format
