// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace sextant {

/// Bounds of a JSON file, so that a small file takes little memory and time. Values are nested at
/// most 100 deep, and an object has at most 1,000 keys, each once.
struct JsonLimits {
    Bytes bytes = Bytes{1} << 26;
    std::size_t values = std::size_t{1} << 20; ///< held at a time
};

/// A list of the outermost object whose entries are handed over one by one and not kept: in memory
/// is one entry, however long the list.
struct JsonStream {
    std::string_view list;
    std::function<void(nlohmann::json&& entry)> take;
};

/// The reader of JSON that all files share. Throws InvalidFile where the text is not JSON, or is
/// beyond the limits; whatever the message quotes is short. What `take` throws is passed on.
nlohmann::json parse_json(std::string_view text, const std::string& path,
                          const JsonLimits& limits = {}, const JsonStream& stream = {});

/// The same from a file, which must be regular.
nlohmann::json read_json(const std::string& path, const JsonLimits& limits = {},
                         const JsonStream& stream = {});

/// A value as a message shows it: "an array of 3", or the beginning of its text.
std::string shown(const nlohmann::json& value);

/// JSON as text that a terminal may show, `indent` spaces a level. Bytes that are not UTF-8, as
/// file names may have, become U+FFFD.
std::string to_text(const nlohmann::json& json, int indent = 2);
std::string to_text(const nlohmann::ordered_json& json, int indent = 2);

} // namespace sextant
