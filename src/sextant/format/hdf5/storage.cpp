// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/hdf5/storage.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/hdf5/references.hpp"
#include "sextant/format/source_file.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace sextant::format {

namespace {

std::string text_of(ssize_t (*get)(hid_t, std::size_t, char*, std::size_t), hid_t created,
                    std::size_t index) {
    const ssize_t length = get(created, index, nullptr, 0);
    std::string text(static_cast<std::size_t>(std::max<ssize_t>(0, length)), '\0');
    get(created, index, text.data(), text.size() + 1);
    return text;
}

/// Replaces each %b by a number and each %% by %. The second result is true if there was a %b.
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

/// Replaces %b by `number` in the names of a source. Empty if there is no %b.
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

/// Returns the selection of source samples that the file states. A selection of the whole source
/// states no sides; it gets the sides of the block that it fills.
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

/// Returns the part of a source that is needed to read a block of a virtual dataset.
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
        throw InvalidFile(
            path_, fmt::format("has virtual datasets nested more than {} levels deep", deepest));
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

/// Finds the sources of a name pattern with %b. The first missing source ends the search; it is
/// reported as missing only if its number is 0.
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

/// Determines the sides. A dataset that grows with its sources ends at the first missing source.
/// Later sources are searched for only to report that they are not read.
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

/// Adds remarks on missing sources. Throws InvalidFile if all sources are missing.
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

namespace {

namespace fs = std::filesystem;

/// The assumed upper bound of the compression ratio of filters other than deflate.
constexpr Bytes believable_ratio = Bytes{1} << 16;
constexpr Bytes largest_chunk = Bytes{1} << 32; // libhdf5's own limit
/// libhdf5 visits all chunks to count them, so chunks are counted only up to this number.
constexpr double most_counted = 1e5;

struct Filter {
    H5Z_filter_t id = 0;
    std::string name;
};

std::vector<Filter> filters_of(hid_t created) {
    std::vector<Filter> filters;
    for (int i = 0; i < H5Pget_nfilters(created); ++i) {
        std::array<char, 64> name{};
        unsigned flags = 0, settings = 0;
        std::size_t values = 0;
        const H5Z_filter_t id = H5Pget_filter2(created, static_cast<unsigned>(i), &flags, &values,
                                               nullptr, name.size() - 1, name.data(), &settings);
        filters.push_back({id, name.data()});
    }
    return filters;
}

/// Returns the name of a filter, which the file need not state.
std::string name_of(const Filter& filter) {
    constexpr std::array<std::pair<H5Z_filter_t, const char*>, 10> known{{{4, "SZIP"},
                                                                          {307, "BZIP2"},
                                                                          {32000, "LZF"},
                                                                          {32001, "Blosc"},
                                                                          {32004, "LZ4"},
                                                                          {32008, "bitshuffle"},
                                                                          {32013, "ZFP"},
                                                                          {32015, "Zstandard"},
                                                                          {32017, "SZ"},
                                                                          {32026, "Blosc2"}}};
    for (const auto& [id, name] : known) {
        if (id == filter.id)
            return name;
    }
    const bool printable =
        !filter.name.empty() && std::all_of(filter.name.begin(), filter.name.end(),
                                            [](unsigned char c) { return c >= 32 && c < 127; });
    return printable ? filter.name : "unknown";
}

bool keeps_length(H5Z_filter_t id) {
    return id == H5Z_FILTER_SHUFFLE || id == H5Z_FILTER_FLETCHER32;
}

Bytes product(const std::vector<std::int64_t>& sides, Bytes sample) {
    double bytes = static_cast<double>(sample);
    for (const std::int64_t side : sides)
        bytes *= static_cast<double>(side);
    return static_cast<Bytes>(std::min(bytes, 4e18));
}

} // namespace

Hdf5Storage::Hdf5Storage(const Hdf5Input& file, const std::string& name, int depth)
    : path_(file.path()), name_(name) {
    Hdf5Handle dataset(H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
    const Hdf5Handle created(dataset ? H5Dget_create_plist(dataset.id()) : -1, H5Pclose);
    const Hdf5Handle type(dataset ? H5Dget_type(dataset.id()) : -1, H5Tclose);
    if (!created || !type)
        throw InvalidFile(path_,
                          fmt::format("dataset {} cannot be opened: {}", name, hdf5_complaint()));
    sample_ = std::max<Bytes>(1, static_cast<Bytes>(H5Tget_size(type.id())));
    if (H5Pget_layout(created.id()) == H5D_VIRTUAL) {
        // Close the dataset first: the access properties of the first open handle apply to all
        // handles.
        dataset = {};
        sources_.emplace(file, name, created.id(), depth);
        sides_ = sources_->sides();
        stored_ = sources_->stored();
        ratio_ = sources_->ratio();
        remarks_ = sources_->remarks();
        return;
    }
    const Hdf5Handle space(H5Dget_space(dataset.id()), H5Sclose);
    sides_ = space ? sides_of(space.id()) : std::vector<std::int64_t>();
    if (H5Pget_external_count(created.id()) > 0) {
        find_external(file, created.id());
        return;
    }
    // The dataset may be in another file that an external link refers to.
    stored_ = std::min(static_cast<Bytes>(H5Dget_storage_size(dataset.id())),
                       SourceFile(path_of(dataset.id())).size());
    const bool empty = product(sides_, sample_) == 0;
    if (stored_ == 0 && !empty)
        throw InvalidFile(path_, fmt::format("dataset {} was never written", name));
    if (H5Pget_layout(created.id()) == H5D_CHUNKED && !empty)
        find_chunks(dataset.id(), created.id());
}

/// Checks that external files are complete, because libhdf5 reads missing samples as zeros.
void Hdf5Storage::find_external(const Hdf5Input& file, hid_t created) {
    const char* const named = std::getenv("HDF5_EXTFILE_PREFIX");
    prefix_ = named ? named : fs::path(file.path()).parent_path().string();
    Bytes left = product(sides_, sample_);
    for (int i = 0; i < H5Pget_external_count(created) && left > 0; ++i) {
        std::array<char, 4096> name{};
        off_t offset = 0;
        hsize_t size = 0;
        H5Pget_external(created, static_cast<unsigned>(i), name.size() - 1, name.data(), &offset,
                        &size);
        const fs::path other = fs::path(prefix_) / name.data();
        require_readable(file, other, false);
        note_referred(other.string());
        const Bytes there = SourceFile(other.string()).size();
        const Bytes wanted = size == H5F_UNLIMITED
                                 ? left
                                 : std::min(left, static_cast<Bytes>(std::min<hsize_t>(
                                                      size, std::numeric_limits<Bytes>::max())));
        if (offset < 0 || there - offset < wanted) {
            throw InvalidFile(path_, fmt::format("has samples in {}, which has {} bytes, expected "
                                                 "{} starting at byte {}",
                                                 other.string(), there, wanted, Bytes{offset}));
        }
        left -= wanted;
        stored_ += wanted;
    }
    if (left > 0)
        throw InvalidFile(
            path_,
            fmt::format("the external files of dataset {} are {} bytes too short", name_, left));
}

void Hdf5Storage::find_chunks(hid_t dataset, hid_t created) {
    std::vector<hsize_t> sides(sides_.size());
    H5Pget_chunk(created, static_cast<int>(sides.size()), sides.data());
    chunk_bytes_ = sample_;
    double expected = 1;
    for (std::size_t axis = 0; axis < sides.size(); ++axis) {
        const auto side = static_cast<Bytes>(sides[axis]);
        if (side < 1 || chunk_bytes_ > largest_chunk / side)
            throw InvalidFile(path_, "has chunks of more than 4 GiB: damaged");
        chunk_bytes_ *= side;
        chunk_.push_back(side);
        expected *= static_cast<double>((sides_[axis] + side - 1) / side);
    }
    require_filters(dataset, created);
    const Bytes most = std::max(modest_chunk, deflate_ratio * stored_);
    if (chunk_bytes_ > std::min(most, ratio_ * stored_)) {
        throw InvalidFile(path_, fmt::format("has chunks of {} bytes in a dataset that stores only "
                                             "{} bytes: damaged or truncated",
                                             chunk_bytes_, stored_));
    }
    hsize_t written = 0;
    const Hdf5Handle all(H5Dget_space(dataset), H5Sclose); // H5S_ALL is not allowed here
    if (expected <= most_counted && H5Dget_num_chunks(dataset, all.id(), &written) >= 0 &&
        static_cast<double>(written) < expected) {
        remarks_.push_back(fmt::format("{} of {:.0f} chunks were never written: their samples "
                                       "have the fill value",
                                       expected - static_cast<double>(written), expected));
    }
}

/// Throws InvalidFile if a filter is not installed, unless the first chunk was stored without it.
/// Writers may skip a filter for chunks that it would not shrink.
void Hdf5Storage::require_filters(hid_t dataset, hid_t created) {
    const std::vector<Filter> filters = filters_of(created);
    ratio_ = deflate_ratio; // also without filters, because missing chunks take no bytes
    std::vector<H5Z_filter_t> ids;
    for (const Filter& filter : filters)
        ids.push_back(filter.id);
    if (!ids.empty() && ids.back() == H5Z_FILTER_FLETCHER32)
        ids.pop_back(); // the checksum is redundant: zlib has its own
    shuffled_ = ids == std::vector<H5Z_filter_t>{H5Z_FILTER_SHUFFLE, H5Z_FILTER_DEFLATE};
    deflated_ = shuffled_ || ids == std::vector<H5Z_filter_t>{H5Z_FILTER_DEFLATE};
    for (std::size_t i = 0; i < filters.size(); ++i) {
        const H5Z_filter_t id = filters[i].id;
        if (id != H5Z_FILTER_DEFLATE && !keeps_length(id))
            ratio_ = believable_ratio;
        if (H5Zfilter_avail(id) > 0)
            continue;
        const Hdf5Handle all(H5Dget_space(dataset), H5Sclose);
        std::vector<hsize_t> offset(sides_.size());
        unsigned left_out = 0;
        haddr_t address = 0;
        hsize_t size = 0;
        if (H5Dget_chunk_info(dataset, all.id(), 0, offset.data(), &left_out, &address, &size) >=
                0 &&
            (left_out & (1U << i)) != 0)
            continue;
        throw InvalidFile(path_,
                          fmt::format("dataset {} is compressed by {} (filter {}), which is not "
                                      "installed for libhdf5",
                                      name_, name_of(filters[i]), id));
    }
}

Hdf5Handle Hdf5Storage::open(const Hdf5Input& file, Bytes cache) const {
    const Hdf5Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
    if (sources_)
        H5Pset_virtual_view(access.id(), H5D_VDS_FIRST_MISSING);
    if (!prefix_.empty())
        H5Pset_efile_prefix(access.id(), prefix_.c_str());
    // Chunks in the same hash slot evict each other, so the number of slots is a prime well above
    // the number of cached chunks.
    constexpr std::array primes{10007, 100'003, 1'000'003};
    const Bytes chunks = cache / std::max<Bytes>(1, chunk_bytes_);
    std::size_t slots = primes.back();
    for (std::size_t i = primes.size(); i-- > 0;) {
        if (primes[i] > 16 * chunks)
            slots = static_cast<std::size_t>(primes[i]);
    }
    H5Pset_chunk_cache(access.id(), slots, static_cast<std::size_t>(cache),
                       H5D_CHUNK_CACHE_W0_DEFAULT);
    return {H5Dopen2(file.id(), name_.c_str(), access.id()), H5Dclose};
}

void Hdf5Storage::require(const std::string& what, std::span<const hsize_t> start,
                          std::span<const hsize_t> count) const {
    if (sources_)
        sources_->require(what, start, count);
}

} // namespace sextant::format
