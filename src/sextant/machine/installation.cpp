// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/machine/installation.hpp"

#include "sextant/core/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::machine {

namespace {

namespace filesystem = std::filesystem;

/// Returns the path of the program or shared library that contains this function.
filesystem::path this_module() {
    std::error_code error;
    const filesystem::path program = filesystem::read_symlink("/proc/self/exe", error);
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&this_module), &info) == 0 || !info.dli_fname)
        return program;
    // For a program, dli_fname is the name by which it was started, which may be relative to
    // another folder.
    const filesystem::path module = filesystem::canonical(info.dli_fname, error);
    return !error && module.filename().string().find(".so") != std::string::npos ? module : program;
}

bool is_below(const filesystem::path& file, const filesystem::path& folder) {
    const filesystem::path relative = file.lexically_relative(folder);
    return !relative.empty() && *relative.begin() != "..";
}

void add(std::vector<filesystem::path>& folders, const filesystem::path& folder) {
    const filesystem::path normal = folder.lexically_normal();
    if (std::find(folders.begin(), folders.end(), normal) == folders.end())
        folders.push_back(normal);
}

} // namespace

Installation installation_of(const std::filesystem::path& module) {
    if (is_below(module, SEXTANT_BUILD_TREE))
        return {{SEXTANT_SOURCE_DATA}, {SEXTANT_BUILD_PROGRAMS}};
    const filesystem::path here = module.parent_path();
    Installation found;
    for (const std::string_view data : {SEXTANT_DATA_FROM_BIN, SEXTANT_DATA_FROM_LIB,
                                        SEXTANT_DATA_FROM_LIBEXEC, SEXTANT_DATA_FROM_PYTHON})
        add(found.data, here / data);
    add(found.data, SEXTANT_INSTALLED_DATA);
    for (const std::string_view programs :
         {SEXTANT_PROGRAMS_FROM_BIN, SEXTANT_PROGRAMS_FROM_LIB, SEXTANT_PROGRAMS_FROM_LIBEXEC,
          SEXTANT_PROGRAMS_FROM_PYTHON})
        add(found.programs, here / programs);
    add(found.programs, SEXTANT_INSTALLED_PROGRAMS);
    return found;
}

Installation installation() {
    return installation_of(this_module());
}

namespace {

std::filesystem::path folder(const char* variable) {
    const char* value = std::getenv(variable);
    const std::filesystem::path path = value ? value : "";
    return path.is_absolute() ? path : std::filesystem::path();
}

/// Returns the folder named by an environment variable, else `in_home` in the user's home; empty if
/// neither is known.
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

namespace {

namespace filesystem = std::filesystem;

std::vector<filesystem::path> files_of(const SharedFolder& folder) {
    std::vector<filesystem::path> files;
    for (const filesystem::path& data : installation().data) {
        for (const filesystem::path& from : {data / folder.path, data / "papers" / folder.path}) {
            std::error_code error;
            for (const auto& entry : filesystem::directory_iterator(from, error)) {
                const std::string ending = entry.path().extension();
                if (std::find(folder.endings.begin(), folder.endings.end(), ending) !=
                    folder.endings.end())
                    files.push_back(entry.path());
            }
        }
    }
    return files;
}

std::string searched(std::span<const SharedFolder> folders) {
    std::vector<std::string> all;
    for (const SharedFolder& folder : folders) {
        for (const filesystem::path& data : installation().data)
            all.push_back(data / folder.path);
    }
    return fmt::format("{}", fmt::join(all, " or "));
}

} // namespace

std::string shared_file(std::span<const SharedFolder> folders, const std::string& given) {
    std::error_code error;
    if (filesystem::exists(given, error) || given.find('/') != std::string::npos)
        return given;
    std::string kinds;
    std::set<std::string> names;
    for (const SharedFolder& folder : folders) {
        for (const filesystem::path& file : files_of(folder)) {
            if (file.stem() == given || file.filename() == given)
                return file;
            names.insert(file.stem());
        }
        kinds += (kinds.empty() ? "" : " or ") + std::string(folder.kind);
    }
    if (names.empty())
        throw InvalidTask(fmt::format("unknown {} '{}'; none is installed in {}", kinds, given,
                                      searched(folders)));
    const std::vector<std::string_view> views(names.begin(), names.end());
    throw InvalidTask(unknown_name(kinds, given, views));
}

std::string shared_file(const SharedFolder& folder, const std::string& given) {
    return shared_file(std::span(&folder, 1), given);
}

} // namespace sextant::machine
