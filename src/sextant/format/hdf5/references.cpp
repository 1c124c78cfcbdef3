// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/hdf5/references.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

namespace sextant::format {

namespace {

namespace fs = std::filesystem;

bool lies_in(const fs::path& folder, const fs::path& file) {
    std::error_code unknown;
    const fs::path outer = fs::weakly_canonical(folder, unknown);
    const fs::path inner = fs::weakly_canonical(file, unknown).parent_path();
    return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first ==
           outer.end();
}

/// Returns the folder of the file's path and, for a symbolic link, the folder of its target.
std::vector<fs::path> folders_of(const Hdf5Input& file) {
    const fs::path named = fs::path(file.path()).parent_path();
    std::error_code unknown;
    return {named.empty() ? "." : named, fs::weakly_canonical(file.path(), unknown).parent_path()};
}

/// A candidate for the path of a file. The path is trusted if an environment variable names its
/// folder.
struct Place {
    fs::path path;
    bool trusted = false;
};

std::vector<Place> places_of(const Hdf5Input& file, const std::string& stated,
                             const char* variable) {
    std::vector<Place> places;
    std::string name = stated;
    if (fs::path(stated).is_absolute()) {
        places.push_back({stated});
        name = fs::path(stated).filename().string(); // a moved file is searched for by its name
    }
    const char* const named = std::getenv(variable);
    for (std::string_view rest = named ? named : ""; !rest.empty();) {
        const std::size_t end = std::min(rest.find(':'), rest.size());
        if (end > 0)
            places.push_back({fs::path(rest.substr(0, end)) / name, true});
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    const std::vector<fs::path> folders = folders_of(file);
    places.push_back({(folders.front() / name).lexically_normal()});
    places.push_back({name});
    places.push_back({(folders.back() / name).lexically_normal()});
    return places;
}

constexpr std::string_view link_starts = "refers to another file, ";

/// Pushes an error onto libhdf5's stack as the innermost error, which `complaint_of_link` returns.
hid_t fail_link(const std::string& what) {
    H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_LINK, H5E_TRAVERSE, "%s%s",
             link_starts.data(), what.c_str());
    return -1;
}

struct Target {
    const char *file = nullptr, *object = nullptr;
};

Target target_of(const void* value, std::size_t size) {
    Target target;
    unsigned flags = 0;
    H5Lunpack_elink_val(value, size, &flags, &target.file, &target.object);
    return target;
}

hid_t refuse_link(const char*, hid_t, const void* value, std::size_t size, hid_t, hid_t) {
    const Target target = target_of(value, size);
    return fail_link(
        fmt::format("{}: --allow-external allows this", target.file ? target.file : "unknown"));
}

/// Opens the target of a link. If this fails, sets `failed` to the reason.
hid_t open_target(hid_t group, const Target& target, hid_t access, std::string& failed) {
    std::size_t links = 0; // limits the number of links followed, because links may form a cycle
    const Hdf5Handle fewer(H5Pcopy(access), H5Pclose);
    if (H5Pget_nlinks(access, &links) < 0 || links < 2 ||
        H5Pset_nlinks(fewer.id(), links - 1) < 0) {
        failed = fmt::format("{}, through too many links", target.file);
        return -1;
    }
    const auto file =
        open_referred(Hdf5Input(path_of(group), true), target.file, "HDF5_EXT_PREFIX");
    if (!file) {
        failed = fmt::format("{}, which is missing", target.file);
        return -1;
    }
    const hid_t object =
        H5Oopen(file->id(), target.object, fewer.id()); // an open object keeps its file open
    if (object < 0) {
        const std::string inner = complaint_of_link();
        failed = inner.empty() ? fmt::format("{}, which has no {}", target.file, target.object)
                               : inner.substr(link_starts.size());
    }
    return object;
}

hid_t follow_link(const char*, hid_t group, const void* value, std::size_t size, hid_t access,
                  hid_t) {
    const Target target = target_of(value, size);
    if (!target.file || !target.object)
        return fail_link("whose name is missing: damaged");
    std::string failed;
    hid_t object = -1;
    try {
        object = open_target(group, target, access, failed);
    } catch (const std::exception& error) { // exceptions must not pass through C
        failed = error.what();
    }
    // This must be the last call, because closing handles clears libhdf5's error stack.
    return failed.empty() ? object : fail_link(failed);
}

} // namespace

std::string path_of(hid_t object) {
    std::string path(
        static_cast<std::size_t>(std::max<ssize_t>(0, H5Fget_name(object, nullptr, 0))), '\0');
    H5Fget_name(object, path.data(), path.size() + 1);
    return path;
}

void require_readable(const Hdf5Input& file, const fs::path& other, bool inside) {
    const auto folders = folders_of(file);
    const bool near = inside && std::any_of(folders.begin(), folders.end(),
                                            [&](const auto& at) { return lies_in(at, other); });
    if (!near && !file.allows_external()) {
        throw InvalidFile(
            file.path(),
            fmt::format("has samples in another file, {}: --allow-external allows this",
                        other.string()));
    }
    std::error_code unknown;
    if (!fs::is_regular_file(other, unknown)) {
        throw InvalidFile(file.path(), fmt::format("has samples in {}, which is not a regular file",
                                                   other.string()));
    }
}

namespace {

/// Global, because libhdf5 opens the targets of links through functions without state. Each process
/// reads only one file (read_apart.hpp).
std::vector<std::string>& noted() {
    static std::vector<std::string> paths;
    return paths;
}

} // namespace

void note_referred(const std::string& path) {
    if (std::find(noted().begin(), noted().end(), path) == noted().end())
        noted().push_back(path);
}

const std::vector<std::string>& noted_as_referred() {
    return noted();
}

std::optional<Hdf5Input> open_referred(const Hdf5Input& file, const std::string& stated,
                                       const char* variable) {
    for (const Place& place : places_of(file, stated, variable)) {
        std::error_code unknown;
        if (!fs::exists(place.path, unknown))
            continue;
        if (!place.trusted)
            require_readable(file, place.path, true);
        try {
            Hdf5Input opened(place.path.string(), file.allows_external());
            note_referred(opened.path());
            return opened;
        } catch (const InvalidFile&) { // try the next path, as libhdf5 does
        }
    }
    return std::nullopt;
}

void guard_external_links(bool allowed) {
    H5L_class_t links{};
    links.version = H5L_LINK_CLASS_T_VERS;
    links.id = H5L_TYPE_EXTERNAL;
    links.comment = "external links, followed only if allowed";
    links.trav_func = allowed ? follow_link : refuse_link;
    H5Lregister(&links);
}

std::string complaint_of_link() {
    const std::string complaint = hdf5_complaint();
    return complaint.starts_with(link_starts) ? complaint : "";
}

} // namespace sextant::format
