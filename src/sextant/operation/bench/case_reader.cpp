// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/bench/case_reader.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/names.hpp"

#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::operation {

using Json = nlohmann::json;

std::vector<Json> read_cases(const std::string& path) {
    std::ifstream file(path);
    if (!file)
        throw InvalidFile(path, "cannot be read");
    const Json content = Json::parse(file, nullptr, false);
    if (content.is_discarded() || !content.is_object() || !content.contains("cases") ||
        !content["cases"].is_array() || content["cases"].empty()) {
        throw InvalidFile(path, "expected a JSON object with a list \"cases\"");
    }
    return content["cases"];
}

void CaseReader::each_field(const Json& object, const Fields& readers) const {
    if (!object.is_object())
        fail(fmt::format("{} is no JSON object", object.dump()));
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
            fail(fmt::format("{} is {}", key, value.dump()));
        } catch (const InvalidTask& error) {
            fail(error.what());
        }
    }
}

std::int64_t CaseReader::whole(const char* field, const Json& value, std::int64_t least,
                               std::int64_t most) const {
    const auto number = value.get<std::int64_t>();
    if (!value.is_number_integer() || number < least || number > most)
        fail(fmt::format("{} is {}, expected {} to {}", field, value.dump(), least, most));
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
