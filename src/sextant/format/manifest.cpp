// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/manifest.hpp"

#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/json_value.hpp"
#include "sextant/format/checks.hpp"

#include <filesystem>
#include <numeric>

#include <fmt/format.h>

namespace sextant::format {

namespace {

constexpr int current_version = 1;

ImageHeader header_of(const JsonField& manifest) {
    if (const auto version = manifest.find("version"))
        version->require_version(current_version);
    const JsonField size = manifest.at("size");
    if (size.size() != 2)
        size.refuse("[width, height] in pixels");
    const std::int64_t width = size[0].integer(1, maximum_pixels, "a width in pixels");
    const std::int64_t height = size[1].integer(1, maximum_pixels, "a height in pixels");
    if (width > maximum_pixels / height) {
        size.fail(
            fmt::format("is {}×{}, expected at most {} pixels", width, height, maximum_pixels));
    }
    const std::string expected =
        fmt::format("\"{}\" or \"{}\"", rgba_f32.name, rgba_depth_f32.name);
    const auto element = manifest.find("element");
    const std::string name = element ? element->any_text(expected) : std::string(rgba_f32.name);
    if (name == rgba_f32.name)
        return {{width, height}, rgba_f32};
    if (name == rgba_depth_f32.name)
        return {{width, height}, rgba_depth_f32};
    element->refuse(expected);
}

/// Returns the values of fields. The values must be a permutation of 0 to n - 1.
std::vector<int> permutation(std::string_view meaning, const std::vector<JsonField>& fields) {
    std::vector<int> numbers;
    std::vector<std::size_t> seen(fields.size(), fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const std::int64_t number = fields[i].integer(0, std::ssize(fields) - 1, meaning);
        std::size_t& first = seen[static_cast<std::size_t>(number)];
        if (first < i)
            fields[i].fail(fmt::format("is {}, the same as {}", number, fields[first].name()));
        first = i;
        numbers.push_back(static_cast<int>(number));
    }
    return numbers;
}

/// Returns the path of a brick's image file. The manifest states the path relative to its own
/// folder.
std::string file_of(const JsonField& brick, int id, const ElementFormat& element,
                    const std::string& path) {
    const char* extension = element == rgba_depth_f32 ? "rgbaz32f" : "rgba32f";
    const auto field = brick.find("file");
    const std::string name = field ? field->text("the name of an image file")
                                   : fmt::format("partial_{}.{}.zst", id, extension);
    const std::string file = (std::filesystem::path(path).parent_path() / name).string();
    try {
        format_of(file);
    } catch (const InvalidFile& error) {
        throw InvalidFile(path, fmt::format("{}.file: {}", brick.name(), error.what()));
    }
    return file;
}

std::vector<std::string> files_of(const JsonField& manifest, const ElementFormat& element,
                                  const std::string& path) {
    const std::vector<JsonField> bricks = manifest.at("bricks").items();
    if (bricks.empty())
        manifest.fail("bricks is empty, expected one or more partial images");
    std::vector<JsonField> numbers;
    for (const JsonField& brick : bricks) {
        if (!brick.is_object())
            brick.refuse("an object");
        numbers.push_back(brick.at("id"));
    }
    const std::vector<int> ids = permutation("the number of a partial image", numbers);
    std::vector<std::string> paths(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i)
        paths[static_cast<std::size_t>(ids[i])] = file_of(bricks[i], ids[i], element, path);
    return paths;
}

std::vector<int> order_of(const JsonField& manifest, std::size_t partials,
                          const ElementFormat& element) {
    const std::string field = "order_front_to_back";
    if (element == rgba_depth_f32 && !manifest.find(field)) {
        std::vector<int> any(partials); // any order is valid, because pixels have depth
        std::iota(any.begin(), any.end(), 0);
        return any;
    }
    const JsonField listed = manifest.at(field);
    if (listed.size() != partials) {
        listed.fail(
            fmt::format("has {} numbers, expected {}, one per brick", listed.size(), partials));
    }
    return permutation("the id of a brick", listed.items());
}

/// Checks and converts the fields of a manifest. Errors name the file and the field.
Partials partials_of(const JsonField& manifest, const std::string& path) {
    const auto [shape, element] = header_of(manifest);
    if (const auto text = manifest.find("format"))
        text->any_text();
    std::vector<std::string> paths = files_of(manifest, element, path);
    std::vector<int> front_to_back = order_of(manifest, paths.size(), element);
    return {shape, element, std::move(paths), std::move(front_to_back)};
}

void require_files(const std::string& path, const Partials& partials) {
    for (std::size_t i = 0; i < partials.paths.size(); ++i) {
        std::error_code error;
        if (std::filesystem::is_regular_file(partials.paths[i], error))
            continue;
        throw InvalidFile(path,
                          fmt::format("partial image {} is {}, which {}", i, partials.paths[i],
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
    return header_of(JsonField::read(path));
}

Partials read_manifest(const std::string& path) {
    Partials partials = partials_of(JsonField::read(path), path);
    require_files(path, partials);
    return partials;
}

void write_manifest(const std::string& path, const Partials& partials) {
    const auto folder = std::filesystem::absolute(path).parent_path();
    Json bricks = Json::array();
    for (std::size_t i = 0; i < partials.paths.size(); ++i) {
        const auto file = std::filesystem::absolute(partials.paths[i]).lexically_proximate(folder);
        bricks.add({{"id", i}, {"file", file.generic_string()}});
    }
    const Json content = {{"version", current_version},
                          {"size", Json::array({partials.shape.width, partials.shape.height})},
                          {"element", partials.element.name},
                          {"format", "little-endian floats, premultiplied, row 0 = top"},
                          {"order_front_to_back", partials.order},
                          {"bricks", bricks}};
    const std::string text = content.text(1) + "\n";
    // Throws if the manifest could not be read again.
    partials_of(JsonField::parse(text, path), path);
    write_file(path, text);
}

} // namespace sextant::format
