// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/json_field.hpp"

#include "sextant/core/json.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace sextant {

using Json = nlohmann::json;

struct JsonField::File {
    std::string path;
    Json content;
};

JsonField JsonField::parse(std::string_view text, const std::string& path) {
    auto file = std::make_shared<File>();
    file->path = path;
    file->content = parse_json(text, path);
    const Json& content = file->content;
    if (!content.is_object())
        throw InvalidFile(path, "is " + shown(content) + ", expected a JSON object");
    return {std::move(file), content, ""};
}

void JsonField::fail(const std::string& what) const {
    throw InvalidFile(file_->path, name_.empty() ? what : name_ + " " + what);
}

void JsonField::refuse(const std::string& expected) const {
    fail(fmt::format("is {}, expected {}", shown(*value_), expected));
}

std::optional<JsonField> JsonField::find(const std::string& name) const {
    if (!value_->is_object())
        refuse("an object");
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

bool JsonField::is_number() const {
    return value_->is_number();
}

double JsonField::number(double from, double to) const {
    // Written so that NaN, which compares false, is refused too.
    if (!value_->is_number() || !(value_->get<double>() >= from && value_->get<double>() <= to)) {
        refuse(fmt::format("a number from {} to {}", from, to));
    }
    return value_->get<double>();
}

std::int64_t JsonField::integer(std::int64_t from, std::int64_t to) const {
    const bool too_long = value_->is_number_unsigned() &&
                          value_->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX);
    if (!value_->is_number_integer() || too_long || value_->get<std::int64_t>() < from ||
        value_->get<std::int64_t>() > to) {
        refuse(fmt::format("a whole number from {} to {}", from, to));
    }
    return value_->get<std::int64_t>();
}

bool JsonField::boolean() const {
    if (!value_->is_boolean())
        refuse("true or false");
    return value_->get<bool>();
}

std::string JsonField::text() const {
    if (!value_->is_string() || value_->get_ref<const std::string&>().empty())
        refuse("a text");
    return value_->get<std::string>();
}

std::string JsonField::text_or(const std::string& name, const std::string& fallback) const {
    const auto found = find(name);
    return found ? found->text() : fallback;
}

std::string JsonField::text_or_empty(const std::string& name) const {
    const auto found = find(name);
    if (!found || *found->value_ == "")
        return "";
    return found->text();
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
