// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/hdf5_references.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format/hdf5_storage.hpp"

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

/// Returns the folder of the path and, if the path is a symbolic link, the folder of its target.
std::vector<fs::path> folders_of(const Hdf5Input& file) {
    const fs::path named = fs::path(file.path()).parent_path();
    std::error_code unknown;
    return {named.empty() ? "." : named, fs::weakly_canonical(file.path(), unknown).parent_path()};
}

/// A possible path of a file; trusted if its folder is given by an environment variable.
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
        name = fs::path(stated).filename().string(); // a moved file keeps only its name
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

/// Adds an error to libhdf5's stack as the innermost, where `complaint_of_link` finds it.
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

/// Opens the target of a link, or sets `failed` to the reason why it cannot be opened.
hid_t open_target(hid_t group, const Target& target, hid_t access, std::string& failed) {
    std::size_t links = 0; // links that may still be followed; they may form a cycle
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
    // Must be last: closing handles clears libhdf5's list of errors.
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

/// Global because libhdf5 opens the targets of links through functions without state. A process
/// reads one file (read_apart.hpp).
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

namespace {

std::string text_of(ssize_t (*get)(hid_t, std::size_t, char*, std::size_t), hid_t created,
                    std::size_t index) {
    const ssize_t length = get(created, index, nullptr, 0);
    std::string text(static_cast<std::size_t>(std::max<ssize_t>(0, length)), '\0');
    get(created, index, text.data(), text.size() + 1);
    return text;
}

/// Replaces each %b by a number and each %% by %. The second value is true if there was a %b.
std::pair<std::string, bool> numbered(const std::string& pattern, std::int64_t number) {
    std::pair<std::string, bool> result;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const char next = i + 1 < pattern.size() && pattern[i] == '%' ? pattern[i + 1] : '\0';
        if (next == 'b') {
            result.first += std::to_string(number);
            result.second = true;
        } else {
            result.first += pattern[i];
        }
        i += next == 'b' || next == '%';
    }
    return result;
}

/// Returns the names of source `number` for names with %b; empty if there is no %b.
std::optional<std::pair<std::string, std::string>>
numbered(const std::pair<std::string, std::string>& pattern, std::int64_t number) {
    const auto file = numbered(pattern.first, number), dataset = numbered(pattern.second, number);
    if (!file.second && !dataset.second)
        return std::nullopt;
    return std::pair(file.first, dataset.first);
}

/// True if a selection is within the given sides.
bool lies_within(hid_t selection, const std::vector<std::int64_t>& sides) {
    const int axes = H5Sget_simple_extent_ndims(selection);
    if (axes < 0 || static_cast<std::size_t>(axes) != sides.size())
        return false;
    std::vector<hsize_t> first(sides.size()), last(sides.size());
    if (H5Sget_select_npoints(selection) == 0)
        return true;
    if (H5Sget_select_bounds(selection, first.data(), last.data()) < 0)
        return false;
    for (std::size_t axis = 0; axis < sides.size(); ++axis) {
        if (last[axis] >= static_cast<hsize_t>(sides[axis]))
            return false;
    }
    return true;
}

/// Returns the stated selection in a source. A selection of the whole source has no stated sides;
/// it gets those of the block that it fills.
Hdf5Handle stated_source(hid_t created, std::size_t index, hid_t where) {
    Hdf5Handle from(H5Pget_virtual_srcspace(created, index), H5Sclose);
    if (!from || H5Sget_select_type(from.id()) != H5S_SEL_ALL)
        return from;
    const auto axes = static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(where)));
    std::vector<hsize_t> first(axes), last(axes);
    H5Sget_select_bounds(where, first.data(), last.data());
    hsize_t all = 1;
    for (std::size_t axis = 0; axis < axes; ++axis) {
        last[axis] -= first[axis] - 1;
        all *= last[axis];
    }
    if (static_cast<hssize_t>(all) == H5Sget_select_npoints(where))
        from = {H5Screate_simple(static_cast<int>(axes), last.data(), nullptr), H5Sclose};
    return from;
}

/// Returns the part of a source that a block of a virtual dataset needs.
Hdf5Handle needed_of(hid_t where, hid_t from, std::span<const hsize_t> start,
                     std::span<const hsize_t> count) {
    const Hdf5Handle block(H5Scopy(where), H5Sclose);
    H5Sselect_hyperslab(block.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
    return {H5Sselect_project_intersection(where, from, block.id()), H5Sclose};
}

} // namespace

Hdf5Sources::Hdf5Sources(const Hdf5Input& file, const std::string& name, hid_t created, int depth)
    : path_(file.path()), name_(name) {
    find(file, created, depth);
    find_sides(file);
    remark_on_missing();
    remark_on_gaps();
}

const Hdf5Sources::Source& Hdf5Sources::source(const Hdf5Input& file, const SourceName& name,
                                               int depth) {
    const auto known = sources_.find(name);
    return known != sources_.end()
               ? known->second
               : sources_.emplace(name, look_at(file, name, depth)).first->second;
}

Hdf5Sources::Source Hdf5Sources::look_at(const Hdf5Input& file, const SourceName& name,
                                         int depth) const {
    constexpr int deepest = 8;
    if (depth >= deepest)
        throw InvalidFile(path_,
                          fmt::format("has virtual datasets nested more than {} deep", deepest));
    const auto& [path, dataset] = name;
    std::optional<Hdf5Input> other;
    if (path != ".") {
        other = open_referred(file, path, "HDF5_VDS_PREFIX");
        if (!other)
            return {fmt::format("{} is missing", path)};
    }
    const Hdf5Input& input = other ? *other : file;
    if (!Hdf5Handle(H5Dopen2(input.id(), dataset.c_str(), H5P_DEFAULT), H5Dclose))
        return {fmt::format("{} has no dataset {}", input.path(), dataset)};
    const Hdf5Storage storage(input, dataset, depth + 1);
    return {storage.is_virtual() && !storage.remarks().empty()
                ? fmt::format("{}: {}", input.path(), storage.remarks().front())
                : "",
            storage.sides(), storage.stored(), storage.ratio()};
}

void Hdf5Sources::find(const Hdf5Input& file, hid_t created, int depth) {
    std::size_t count = 0;
    H5Pget_virtual_count(created, &count);
    for (std::size_t i = 0; i < count; ++i) {
        Hdf5Handle where(H5Pget_virtual_vspace(created, i), H5Sclose);
        Hdf5Handle from = stated_source(created, i, where.id());
        Mapping mapping{std::move(where),
                        std::move(from),
                        {text_of(H5Pget_virtual_filename, created, i),
                         text_of(H5Pget_virtual_dsetname, created, i)}};
        if (!mapping.where || !mapping.from)
            throw InvalidFile(path_, fmt::format("virtual dataset {} cannot be read: {}", name_,
                                                 hdf5_complaint()));
        const auto axes =
            static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(mapping.where.id())));
        mapping.first.resize(axes);
        mapping.last.resize(axes);
        H5Sget_select_bounds(mapping.where.id(), mapping.first.data(), mapping.last.data());
        mapping.grows = H5Sget_select_npoints(mapping.where.id()) < 0;
        if (numbered(mapping.name, 0))
            find_numbered(file, mapping.name, depth);
        else
            mapping.source = &source(file, mapping.name, depth);
        mapping.cut = mapping.source && !lies_within(mapping.from.id(), mapping.source->sides);
        mappings_.push_back(std::move(mapping));
    }
}

/// Finds the sources of a name with %b. They end at the first missing source, which is reported as
/// missing only if it is number 0.
void Hdf5Sources::find_numbered(const Hdf5Input& file, const SourceName& pattern, int depth) {
    constexpr std::int64_t most = 100000;
    for (std::int64_t number = 0; number < most; ++number) {
        const SourceName name = *numbered(pattern, number);
        if (source(file, name, depth).trouble.empty())
            continue;
        if (number > 0)
            sources_.erase(name);
        return;
    }
}

/// Finds the sides. A dataset that grows with its sources ends at the first missing source; later
/// sources are searched for only to report that they are not read.
void Hdf5Sources::find_sides(const Hdf5Input& file) {
    const auto sides_by = [&](H5D_vds_view_t view) {
        constexpr hsize_t farthest = 100; // maximum number of consecutive missing sources
        const Hdf5Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
        H5Pset_virtual_view(access.id(), view);
        H5Pset_virtual_printf_gap(access.id(), view == H5D_VDS_FIRST_MISSING ? 0 : farthest);
        const Hdf5Handle dataset(H5Dopen2(file.id(), name_.c_str(), access.id()), H5Dclose);
        const Hdf5Handle space(dataset ? H5Dget_space(dataset.id()) : -1, H5Sclose);
        return space ? sides_of(space.id()) : std::vector<std::int64_t>();
    };
    const std::vector<std::int64_t> all = sides_by(H5D_VDS_LAST_AVAILABLE);
    sides_ = sides_by(H5D_VDS_FIRST_MISSING);
    for (std::size_t axis = 0; axis < std::min(all.size(), sides_.size()); ++axis) {
        if (sides_[axis] < all[axis]) {
            remarks_.push_back(
                fmt::format("a source is missing: {} of {} positions along axis {} are read",
                            sides_[axis], all[axis], axis));
        }
    }
}

/// Adds remarks on missing sources, and throws if all are missing.
void Hdf5Sources::remark_on_missing() {
    std::vector<std::string> troubles;
    for (const auto& [name, source] : sources_) {
        stored_ += source.stored;
        ratio_ = std::max(ratio_, source.ratio);
        if (!source.trouble.empty())
            troubles.push_back(source.trouble);
    }
    if (!troubles.empty() && troubles.size() == sources_.size()) {
        throw InvalidFile(
            path_,
            fmt::format("dataset {} lacks samples, because all {} of its sources are missing: {}",
                        name_, sources_.size(), troubles.front()));
    }
    if (!troubles.empty()) {
        remarks_.push_back(fmt::format("{} of {} sources of samples are missing: {}",
                                       troubles.size(), sources_.size(), troubles.front()));
    }
}

void Hdf5Sources::remark_on_gaps() {
    double mapped = 0, all = 1;
    for (const Mapping& mapping : mappings_) {
        if (mapping.grows)
            return;
        mapped += static_cast<double>(H5Sget_select_npoints(mapping.where.id()));
    }
    for (const std::int64_t side : sides_)
        all *= static_cast<double>(side);
    if (mapped < all) {
        remarks_.push_back(
            fmt::format("{:.3g} % of the samples have no source and take the fill value",
                        100 * (1 - mapped / all)));
    }
}

void Hdf5Sources::require(const std::string& what, std::span<const hsize_t> start,
                          std::span<const hsize_t> count) const {
    std::vector<hsize_t> end(start.size());
    for (std::size_t axis = 0; axis < start.size(); ++axis)
        end[axis] = start[axis] + count[axis] - 1;
    for (const Mapping& mapping : mappings_) {
        if (mapping.grows || !mapping.source)
            continue; // the dataset ends at the first missing source
        bool apart = mapping.first.size() != start.size();
        for (std::size_t axis = 0; axis < start.size() && !apart; ++axis)
            apart = mapping.first[axis] > end[axis] || mapping.last[axis] < start[axis];
        if (apart || H5Sselect_intersect_block(mapping.where.id(), start.data(), end.data()) <= 0)
            continue;
        if (!mapping.source->trouble.empty())
            throw InvalidFile(path_, fmt::format("{}: {}", what, mapping.source->trouble));
        if (mapping.cut &&
            !lies_within(needed_of(mapping.where.id(), mapping.from.id(), start, count).id(),
                         mapping.source->sides))
            throw InvalidFile(path_, fmt::format("{}: dataset {} of {} is too small", what,
                                                 mapping.name.second, mapping.name.first));
    }
}

} // namespace sextant::format
