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

/// The folder that a variable names, or one in the user's home; empty where neither is known.
std::filesystem::path users_folder(const char* variable, const char* in_home) {
    const std::filesystem::path named = folder(variable), home = folder("HOME");
    return named.empty() && !home.empty() ? home / in_home : named;
}

} // namespace

std::string default_profile_path(std::string_view transport) {
    const std::filesystem::path settings = users_folder("XDG_CONFIG_HOME", ".config");
    if (settings.empty())
        return "";
    return settings / "sextant" / "machines" / (std::string(transport) + ".json");
}

std::string probe_folder() {
    const std::filesystem::path cache = users_folder("XDG_CACHE_HOME", ".cache");
    return cache.empty() ? "" : cache / "sextant" / "probes";
}

} // namespace sextant::machine
