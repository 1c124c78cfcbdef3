// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/record.hpp"

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

// Another valid value for each option of a record, for tests over all of them.
namespace sextant::test {

/// Returns another value of a field, as text. `values` has those of fields whose values are not
/// flags, choices or numbers, or not any number; "" leaves a field without a value.
inline std::string changed_value(const Field& field,
                                 const std::map<std::string, std::string>& values) {
    const std::string now = field.text();
    if (const auto found = values.find(field.name); found != values.end())
        return found->second;
    if (field.kind == Field::Kind::flag)
        return now == "true" ? "false" : "true";
    for (const std::string_view choice : field.choices) {
        if (choice != now)
            return std::string(choice);
    }
    if (field.kind == Field::Kind::integer || field.kind == Field::Kind::number) {
        const double value = now.empty() ? field.least : std::stod(now);
        return std::to_string(
            static_cast<std::int64_t>(value + 1 <= field.most ? value + 1 : value - 1));
    }
    throw std::logic_error("the test has no other value for " + field.name);
}

/// Gives one field of a record another value. Throws std::logic_error if this leaves its text.
inline void change(Record& record, const std::string& name,
                   const std::map<std::string, std::string>& values) {
    Field& field = record[name];
    const std::string before = field.text();
    field.set(changed_value(field, values));
    if (field.text() == before)
        throw std::logic_error("the test does not change " + name);
}

} // namespace sextant::test
