// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/launch_file.hpp"

#include "sextant/core/error.hpp"
#include "sextant/machine/profile_file.hpp"

#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::calibrate {

using Json = nlohmann::ordered_json;

std::string text_with_launches(const machine::Profile& merged,
                               std::span<const machine::Profile> launches) {
    Json json = Json::parse(machine::profile_text(merged));
    for (const machine::Profile& launch : launches)
        json["launches"].push_back(Json::parse(machine::profile_text(launch)));
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<machine::Profile> read_launches(const std::string& path) {
    machine::read_profile(path); // whatever is wrong with the file is said there
    std::ifstream file(path);
    const Json json = Json::parse(file, nullptr, false);
    const auto found = json.is_object() ? json.find("launches") : json.end();
    if (json.is_discarded() || found == json.end() || !found->is_array() || found->empty()) {
        throw InvalidFile(path, "names no launches that it was made from, expected a profile that "
                                "'sextant calibrate' wrote");
    }
    std::vector<machine::Profile> launches;
    for (const Json& launch : *found) {
        launches.push_back(machine::parse_profile(
            launch.dump(), fmt::format("{}: launches[{}]", path, launches.size())));
    }
    return launches;
}

} // namespace sextant::calibrate
