// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/machine/installation.hpp"

#include <algorithm>
#include <string_view>

#include <dlfcn.h>

namespace sextant::machine {

namespace {

namespace filesystem = std::filesystem;

/// The file that this function was linked into.
filesystem::path this_module() {
    std::error_code error;
    const filesystem::path program = filesystem::read_symlink("/proc/self/exe", error);
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&this_module), &info) == 0 || !info.dli_fname)
        return program;
    // The name of the program itself is as it was called, which may be relative to another folder.
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
    for (const std::string_view data : {SEXTANT_DATA_FROM_BIN, SEXTANT_DATA_FROM_LIB})
        add(found.data, here / data);
    add(found.data, SEXTANT_INSTALLED_DATA);
    for (const std::string_view programs : {SEXTANT_PROGRAMS_FROM_BIN, SEXTANT_PROGRAMS_FROM_LIB})
        add(found.programs, here / programs);
    add(found.programs, SEXTANT_INSTALLED_PROGRAMS);
    return found;
}

Installation installation() {
    return installation_of(this_module());
}

} // namespace sextant::machine
