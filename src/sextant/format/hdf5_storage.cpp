// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/hdf5_storage.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format/hdf5_references.hpp"
#include "sextant/format/limits.hpp"
#include "sextant/format/source_file.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace sextant::format {

namespace {

namespace fs = std::filesystem;

/// What filters other than deflate are believed to make of a byte.
constexpr Bytes believable_ratio = Bytes{1} << 16;
constexpr Bytes largest_chunk = Bytes{1} << 32; // the library's own limit
/// Chunks are counted if there are no more: the library goes through all of them.
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

/// The names by which the registered filters are known; files do not always state one.
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
        dataset = {}; // how it was opened first would hold for every handle
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
    // A link may have led to another file.
    stored_ = std::min(static_cast<Bytes>(H5Dget_storage_size(dataset.id())),
                       SourceFile(path_of(dataset.id())).size());
    const bool empty = product(sides_, sample_) == 0;
    if (stored_ == 0 && !empty)
        throw InvalidFile(path_, fmt::format("dataset {} was never written", name));
    if (H5Pget_layout(created.id()) == H5D_CHUNKED && !empty)
        find_chunks(dataset.id(), created.id());
}

/// The library takes samples that a file is too short for as zeros.
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
        const Bytes there = SourceFile(other.string()).size();
        const Bytes wanted = size == H5F_UNLIMITED
                                 ? left
                                 : std::min(left, static_cast<Bytes>(std::min<hsize_t>(
                                                      size, std::numeric_limits<Bytes>::max())));
        if (offset < 0 || there - offset < wanted) {
            throw InvalidFile(path_, fmt::format("has samples in {}, which has {} bytes, expected "
                                                 "{} from byte {} on",
                                                 other.string(), there, wanted, Bytes{offset}));
        }
        left -= wanted;
        stored_ += wanted;
    }
    if (left > 0)
        throw InvalidFile(
            path_, fmt::format("dataset {} has external files for all but {} bytes", name_, left));
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
        throw InvalidFile(path_,
                          fmt::format("has chunks of {} bytes in a dataset of which {} bytes "
                                      "are stored: damaged or truncated",
                                      chunk_bytes_, stored_));
    }
    hsize_t written = 0;
    const Hdf5Handle all(H5Dget_space(dataset), H5Sclose); // the library takes no H5S_ALL here
    if (expected <= most_counted && H5Dget_num_chunks(dataset, all.id(), &written) >= 0 &&
        static_cast<double>(written) < expected) {
        remarks_.push_back(fmt::format("{} of {:.0f} chunks were never written: their samples are "
                                       "the fill value",
                                       expected - static_cast<double>(written), expected));
    }
}

/// A filter may have been left out where a chunk would not have become smaller.
void Hdf5Storage::require_filters(hid_t dataset, hid_t created) {
    const std::vector<Filter> filters = filters_of(created);
    ratio_ = deflate_ratio; // also of datasets of which only some chunks were written
    std::vector<H5Z_filter_t> ids;
    for (const Filter& filter : filters)
        ids.push_back(filter.id);
    if (!ids.empty() && ids.back() == H5Z_FILTER_FLETCHER32)
        ids.pop_back(); // zlib has a checksum of its own, in front of this one
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
    constexpr std::size_t slots = 10007; // a prime well above the number of chunks in the cache
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
