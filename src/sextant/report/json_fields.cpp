// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/json_fields.hpp"

#include "sextant/core/error.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::report {

JsonFields::JsonFields(const nlohmann::json& object, const std::string& path, std::string where)
    : object_(object), path_(path), where_(std::move(where)) {}

void JsonFields::fail(const std::string& what) const {
    throw InvalidFile(path_, fmt::format("{}: {}", where_, what));
}

double JsonFields::number(const char* field) const {
    const auto found = object_.find(field);
    if (found == object_.end() || !found->is_number())
        fail(fmt::format("{}: expected a number", field));
    const double value = found->get<double>();
    if (!std::isfinite(value))
        fail(fmt::format("{}: {} is not finite", field, value));
    return value;
}

std::int64_t JsonFields::integer(const char* field, std::int64_t least, std::int64_t most) const {
    const auto found = object_.find(field);
    if (found == object_.end() || !found->is_number_integer())
        fail(fmt::format("{}: expected an integer", field));
    const auto value = found->get<std::int64_t>();
    if (value < least || value > most)
        fail(fmt::format("{}: {}, expected {} to {}", field, value, least, most));
    return value;
}

bool JsonFields::truth(const char* field) const {
    const auto found = object_.find(field);
    if (found == object_.end() || !found->is_boolean())
        fail(fmt::format("{}: expected true or false", field));
    return found->get<bool>();
}

std::string JsonFields::text(const char* field) const {
    const auto found = object_.find(field);
    if (found == object_.end() || !found->is_string())
        fail(fmt::format("{}: expected a text", field));
    return found->get<std::string>();
}

} // namespace sextant::report
