// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/json_field.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace sextant {

struct JsonField::File {
    std::string path;
    nlohmann::json content;
};

JsonField JsonField::whole(nlohmann::json content, const std::string& path) {
    const auto file = std::make_shared<File>(File{path, std::move(content)});
    return {file, file->content, ""};
}

JsonField JsonField::parse(std::string_view text, const std::string& path,
                           const JsonLimits& limits) {
    return whole(parse_json(text, path, limits), path);
}

JsonField JsonField::parse(std::string_view text, const std::string& path, const std::string& list,
                           const std::function<void(const JsonField& entry)>& take) {
    std::size_t count = 0;
    const auto take_entry = [&](nlohmann::json&& entry) {
        const auto file = std::make_shared<File>(File{path, std::move(entry)});
        take({file, file->content, fmt::format("{}[{}]", list, count++)});
    };
    return whole(parse_json(text, path, {}, {list, take_entry}), path);
}

JsonField JsonField::read(const std::string& path, const JsonLimits& limits) {
    return whole(read_json(path, limits), path);
}

void JsonField::fail(const std::string& what) const {
    throw InvalidFile(file_->path, name_.empty() ? what : name_ + " " + what);
}

void JsonField::refuse(const std::string& expected) const {
    fail(fmt::format("is {}, expected {}", shown(*value_), expected));
}

std::optional<JsonField> JsonField::find(const std::string& name) const {
    if (!value_->is_object())
        refuse("a JSON object");
    const auto found = value_->find(name);
    if (found == value_->end())
        return std::nullopt;
    return JsonField(file_, *found, name_.empty() ? name : name_ + "." + name);
}

JsonField JsonField::at(const std::string& name) const {
    if (const auto found = find(name))
        return *found;
    throw InvalidFile(file_->path, (name_.empty() ? name : name_ + "." + name) + " is missing");
}

std::vector<std::string> JsonField::names() const {
    if (!value_->is_object())
        refuse("a JSON object");
    std::vector<std::string> all;
    for (const auto& [name, value] : value_->items())
        all.push_back(name);
    return all;
}

std::size_t JsonField::size() const {
    if (!value_->is_array())
        refuse("an array");
    return value_->size();
}

JsonField JsonField::operator[](std::size_t i) const {
    return {file_, value_->at(i), fmt::format("{}[{}]", name_, i)};
}

std::vector<JsonField> JsonField::items() const {
    std::vector<JsonField> all;
    for (std::size_t i = 0; i < size(); ++i)
        all.push_back((*this)[i]);
    return all;
}

std::vector<JsonField> JsonField::items_or_none(const std::string& name) const {
    const auto found = find(name);
    return found ? found->items() : std::vector<JsonField>{};
}

void JsonField::require_size(std::size_t wanted, const std::string& expected) const {
    if (!value_->is_array() || value_->size() != wanted)
        refuse(expected);
}

void JsonField::require_version(int newest) const {
    const bool is_version = value_->is_number_unsigned() && value_->get<std::uint64_t>() > 0;
    if (!is_version || value_->get<std::uint64_t>() > static_cast<std::uint64_t>(newest)) {
        refuse(
            fmt::format("{}{}{}", newest > 1 ? "1 to " : "", newest,
                        is_version ? ": the file was written by a newer version of Sextant" : ""));
    }
}

bool JsonField::is_null() const {
    return value_->is_null();
}

bool JsonField::is_object() const {
    return value_->is_object();
}

bool JsonField::is_number() const {
    return value_->is_number();
}

double JsonField::number(double from, double to) const {
    // The negated comparison also rejects NaN, which compares false.
    if (!value_->is_number() || !(value_->get<double>() >= from && value_->get<double>() <= to)) {
        refuse(fmt::format("a number from {} to {}", from, to));
    }
    return value_->get<double>();
}

std::int64_t JsonField::integer(std::int64_t from, std::int64_t to, std::string_view what) const {
    const bool too_long = value_->is_number_unsigned() &&
                          value_->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX);
    if (!value_->is_number_integer() || too_long || value_->get<std::int64_t>() < from ||
        value_->get<std::int64_t>() > to) {
        refuse(fmt::format("{} from {} to {}", what, from, to));
    }
    return value_->get<std::int64_t>();
}

bool JsonField::boolean() const {
    if (!value_->is_boolean())
        refuse("true or false");
    return value_->get<bool>();
}

std::string JsonField::text(const std::string& expected) const {
    std::string text = any_text(expected);
    if (text.empty())
        refuse(expected);
    return text;
}

std::string JsonField::any_text(const std::string& expected) const {
    if (!value_->is_string())
        refuse(expected);
    return value_->get<std::string>();
}

std::string JsonField::text_or(const std::string& name, const std::string& fallback) const {
    const auto found = find(name);
    return found ? found->text() : fallback;
}

std::string JsonField::text_or_empty(const std::string& name) const {
    const auto found = find(name);
    return found ? found->any_text() : "";
}

std::size_t JsonField::place_in(std::span<const std::string_view> names) const {
    const auto found = value_->is_string()
                           ? std::find(names.begin(), names.end(), value_->get<std::string>())
                           : names.end();
    if (found == names.end())
        refuse(fmt::format("one of \"{}\"", fmt::join(names, "\", \"")));
    return static_cast<std::size_t>(found - names.begin());
}

} // namespace sextant
