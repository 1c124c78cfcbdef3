// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/machine/places.hpp"

#include <cstdlib>
#include <filesystem>

namespace sextant::machine {

namespace {

std::filesystem::path folder(const char* variable) {
    const char* value = std::getenv(variable);
    const std::filesystem::path path = value ? value : "";
    return path.is_absolute() ? path : std::filesystem::path();
}

} // namespace

std::string default_profile_path(std::string_view transport) {
    std::filesystem::path settings = folder("XDG_CONFIG_HOME");
    if (settings.empty()) {
        const std::filesystem::path home = folder("HOME");
        if (home.empty())
            return "";
        settings = home / ".config";
    }
    return settings / "sextant" / "machines" / (std::string(transport) + ".json");
}

} // namespace sextant::machine
