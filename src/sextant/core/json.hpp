// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace sextant {

/// Limits on a JSON file, which bound the memory and time needed to parse it. In addition, values
/// are nested at most 100 deep, and the keys of an object are all different.
struct JsonLimits {
    Bytes bytes = Bytes{1} << 26;
    std::size_t values = std::size_t{1} << 20; ///< values in memory at a time
    std::size_t keys = 1000;                   ///< keys per object
};

/// A list in the outermost object whose entries are passed to `take` one by one and not kept, so
/// that only one is in memory at a time.
struct JsonStream {
    std::string_view list;
    std::function<void(nlohmann::json&& entry)> take;
};

/// Parses JSON. Throws InvalidFile if the text is not JSON or exceeds the limits; quotations in the
/// message are shortened. Exceptions thrown by `take` propagate.
nlohmann::json parse_json(std::string_view text, const std::string& path,
                          const JsonLimits& limits = {}, const JsonStream& stream = {});

/// Reads and parses a regular file.
nlohmann::json read_json(const std::string& path, const JsonLimits& limits = {},
                         const JsonStream& stream = {});

/// A value in the form that error messages show: "an array of 3", or the beginning of its text.
std::string shown(const nlohmann::json& value);

/// The value as text, with the same escapes as Json::text().
std::string to_text(const nlohmann::json& json, int indent = 2);
std::string to_text(const nlohmann::ordered_json& json, int indent = 2);

} // namespace sextant
