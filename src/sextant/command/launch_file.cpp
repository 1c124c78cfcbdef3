// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/launch_file.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/machine/profile_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::calibrate {

using Json = nlohmann::ordered_json;

std::string text_with_launches(const machine::Profile& merged,
                               std::span<const machine::Profile> launches) {
    Json json = Json::parse(machine::profile_text(merged));
    for (const machine::Profile& launch : launches)
        json["launches"].push_back(Json::parse(machine::profile_text(launch)));
    return to_text(json, 1) + "\n";
}

std::vector<machine::Profile> read_launches(const std::string& path) {
    machine::read_profile(path); // throws if the file is not a valid profile
    const nlohmann::json json = read_json(path);
    const auto found = json.is_object() ? json.find("launches") : json.end();
    if (found == json.end() || !found->is_array() || found->empty()) {
        throw InvalidFile(path, "names no launches that it was made from, expected a profile that "
                                "'sextant calibrate' wrote");
    }
    std::vector<machine::Profile> launches;
    for (const nlohmann::json& launch : *found) {
        launches.push_back(machine::parse_profile(
            to_text(launch), fmt::format("{}: launches[{}]", path, launches.size())));
    }
    return launches;
}

} // namespace sextant::calibrate
