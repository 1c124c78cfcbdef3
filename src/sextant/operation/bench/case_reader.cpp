// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/bench/case_reader.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/names.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::operation {

using Json = nlohmann::json;

namespace {

/// Cases are written by people.
constexpr Bytes most_bytes = Bytes{1} << 24;
constexpr std::size_t most_values = 100'000;

} // namespace

std::vector<Json> read_cases(const std::string& path) {
    Json content = read_json(path, {most_bytes, most_values});
    const auto found = content.is_object() ? content.find("cases") : content.end();
    if (found == content.end() || !found->is_array() || found->empty())
        throw InvalidFile(path, "expected a JSON object with a list \"cases\"");
    return std::move(found->get_ref<Json::array_t&>());
}

void CaseReader::each_field(const Json& object, const Fields& readers) const {
    if (!object.is_object())
        fail(fmt::format("{} is no JSON object", shown(object)));
    std::vector<std::string_view> names;
    for (const auto& [name, reader] : readers)
        names.push_back(name);
    for (const auto& [key, value] : object.items()) {
        const auto found = readers.find(key);
        if (found == readers.end())
            fail(unknown_name("field", key, names));
        try {
            found->second(value);
        } catch (const Json::exception&) {
            fail(fmt::format("{} is {}", key, shown(value)));
        } catch (const InvalidTask& error) {
            fail(error.what());
        }
    }
}

std::int64_t CaseReader::whole(const char* field, const Json& value, std::int64_t least,
                               std::int64_t most) const {
    // A value above 2^63 - 1 is not an integer of the type, and turns negative.
    const bool fits = value.is_number_integer() &&
                      (!value.is_number_unsigned() || value.get<std::uint64_t>() <= INT64_MAX);
    const std::int64_t number = fits ? value.get<std::int64_t>() : least;
    if (!fits || number < least || number > most)
        fail(fmt::format("{} is {}, expected {} to {}", field, shown(value), least, most));
    return number;
}

CaseReader::Fields CaseReader::size_fields(ImageShape& shape) const {
    constexpr std::int64_t widest = 1 << 16;
    return {{"width", [&](const Json& v) { shape.width = whole("width", v, 1, widest); }},
            {"height", [&](const Json& v) { shape.height = whole("height", v, 1, widest); }}};
}

void CaseReader::fail(const std::string& what) const {
    throw InvalidFile(path_, fmt::format("case {}: {}", number_, what));
}

} // namespace sextant::operation
