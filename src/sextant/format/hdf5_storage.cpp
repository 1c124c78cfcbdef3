// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/hdf5_storage.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/hdf5_references.hpp"
#include "sextant/format/source_file.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <new>
#include <utility>

#include <fmt/format.h>

namespace sextant::format {

namespace {

namespace fs = std::filesystem;

/// The assumed upper bound of the compression ratio of filters other than deflate.
constexpr Bytes believable_ratio = Bytes{1} << 16;
constexpr Bytes largest_chunk = Bytes{1} << 32; // libhdf5's own limit
/// Chunks are counted only if there are at most this many, because libhdf5 visits all of them.
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

/// Returns the name of a filter; files do not always state it.
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
        // Close the dataset, because the access properties of the first open handle apply to all.
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
    // The dataset may be in another file, through an external link.
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
    const Hdf5Handle all(H5Dget_space(dataset), H5Sclose); // H5S_ALL is not accepted here
    if (expected <= most_counted && H5Dget_num_chunks(dataset, all.id(), &written) >= 0 &&
        static_cast<double>(written) < expected) {
        remarks_.push_back(fmt::format("{} of {:.0f} chunks were never written: their samples are "
                                       "the fill value",
                                       expected - static_cast<double>(written), expected));
    }
}

/// Throws InvalidFile if a filter is not installed, unless the first chunk was stored without it:
/// writers may skip filters for chunks that they would not shrink.
void Hdf5Storage::require_filters(hid_t dataset, hid_t created) {
    const std::vector<Filter> filters = filters_of(created);
    ratio_ = deflate_ratio; // even without filters, because missing chunks occupy no bytes
    std::vector<H5Z_filter_t> ids;
    for (const Filter& filter : filters)
        ids.push_back(filter.id);
    if (!ids.empty() && ids.back() == H5Z_FILTER_FLETCHER32)
        ids.pop_back(); // this checksum is redundant: zlib has its own
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
    // Chunks of the same slot replace each other: a prime well above the number of cached chunks.
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

void Hdf5Inflater::End::operator()(z_stream* stream) const {
    inflateEnd(stream);
    delete stream;
}

Hdf5Inflater::Hdf5Inflater(std::vector<std::byte> stored, Elements samples, Bytes size,
                           bool shuffled, Pace pace)
    : stored_(std::move(stored)),
      samples_(samples),
      size_(static_cast<std::size_t>(size)),
      pace_(std::move(pace)),
      decoders_(shuffled ? size_ : 1) {
    for (Decoder& decoder : decoders_) {
        auto stream = std::make_unique<z_stream>();
        *stream = {};
        if (inflateInit(stream.get()) != Z_OK)
            throw std::bad_alloc();
        decoder.stream.reset(stream.release());
        restart(decoder);
    }
}

void Hdf5Inflater::restart(Decoder& decoder) {
    inflateReset(decoder.stream.get());
    decoder.stream->next_in = reinterpret_cast<Bytef*>(stored_.data());
    decoder.stream->avail_in = static_cast<uInt>(stored_.size());
    decoder.position = 0;
}

void Hdf5Inflater::inflate(Decoder& decoder, std::span<std::byte> to) {
    z_stream& stream = *decoder.stream;
    while (!to.empty()) {
        constexpr std::size_t at_once = std::size_t{1} << 24;
        const std::size_t wanted = std::min(to.size(), at_once);
        stream.next_out = reinterpret_cast<Bytef*>(to.data());
        stream.avail_out = static_cast<uInt>(wanted);
        const int result = ::inflate(&stream, Z_NO_FLUSH);
        const std::size_t came = wanted - stream.avail_out;
        if (came == 0 || (result != Z_OK && result != Z_STREAM_END))
            throw Error("inflate() failed");
        decoder.position += static_cast<Bytes>(came);
        to = to.subspan(came);
        since_ += static_cast<Bytes>(came);
        constexpr Bytes between = Bytes{1} << 26;
        if (since_ > between) {
            pace_(between);
            since_ = 0;
        }
    }
}

void Hdf5Inflater::go_to(Decoder& decoder, Bytes position) {
    if (position < decoder.position)
        restart(decoder);
    constexpr Bytes at_once = Bytes{1} << 18;
    passed_.resize(static_cast<std::size_t>(at_once));
    while (decoder.position < position) {
        const Bytes left = std::min(at_once, position - decoder.position);
        inflate(decoder, std::span(passed_).first(static_cast<std::size_t>(left)));
    }
}

void Hdf5Inflater::read(Elements first, std::span<std::byte> to) {
    if (decoders_.size() == 1) {
        go_to(decoders_.front(), first * static_cast<Bytes>(size_));
        inflate(decoders_.front(), to);
        return;
    }
    bytes_.resize(to.size() / size_);
    for (std::size_t byte = 0; byte < size_; ++byte) {
        go_to(decoders_[byte], static_cast<Bytes>(byte) * samples_ + first);
        inflate(decoders_[byte], bytes_);
        for (std::size_t i = 0; i < bytes_.size(); ++i)
            to[i * size_ + byte] = bytes_[i];
    }
}

bool Hdf5LargeChunks::has(const Hdf5Storage& storage) {
    constexpr Bytes usual_ratio = 8;
    return storage.is_deflated() && storage.chunk_bytes() > modest_chunk &&
           storage.chunk_bytes() > usual_ratio * storage.stored();
}

Hdf5LargeChunks::Hdf5LargeChunks(const Hdf5Storage& storage, hid_t dataset, Pace pace)
    : storage_(storage),
      dataset_(dataset),
      type_(H5Dget_type(dataset), H5Tclose),
      pace_(std::move(pace)) {}

Hdf5Inflater& Hdf5LargeChunks::chunk_at(const Offset& offset) {
    if (const auto known = open_.find(offset); known != open_.end())
        return known->second;
    hsize_t size = 0;
    if (H5Dget_chunk_storage_size(dataset_, offset.data(), &size) < 0 || size == 0)
        throw Error("a chunk was never written");
    if (static_cast<Bytes>(size) > storage_.stored())
        throw Error("a chunk is larger than its dataset: damaged");
    std::vector<std::byte> stored(static_cast<std::size_t>(size));
    unsigned left_out = 0;
    if (H5Dread_chunk(dataset_, H5P_DEFAULT, offset.data(), &left_out, stored.data()) < 0)
        throw Error(hdf5_complaint());
    if (left_out != 0)
        throw Error("a chunk is stored without its filters and is too short: damaged");
    return open_
        .try_emplace(offset, std::move(stored), storage_.chunk_bytes() / storage_.sample_bytes(),
                     storage_.sample_bytes(), storage_.is_shuffled(), pace_)
        .first->second;
}

void Hdf5LargeChunks::read_row(std::span<const hsize_t> start, hid_t type,
                               std::span<std::byte> to) {
    const std::size_t axes = start.size();
    const auto width = static_cast<std::size_t>(storage_.sides().back());
    const auto chunk_width = static_cast<std::size_t>(storage_.chunk().back());
    const auto size = static_cast<std::size_t>(storage_.sample_bytes());
    Offset offset(start.begin(), start.end());
    Elements first = 0; // index of the row's first sample in its chunk
    for (std::size_t axis = 0; axis < axes; ++axis) {
        const auto side = static_cast<hsize_t>(storage_.chunk()[axis]);
        offset[axis] = start[axis] / side * side;
        first =
            first * static_cast<Elements>(side) + static_cast<Elements>(start[axis] - offset[axis]);
    }
    const auto same_band = [&](const Offset& other) {
        return std::equal(offset.begin(), offset.end() - 1, other.begin());
    };
    std::erase_if(open_, [&](const auto& chunk) { return !same_band(chunk.first); });
    row_.resize(std::max(width * size, to.size())); // for samples before and after conversion
    for (std::size_t x = 0; x < width; x += chunk_width) {
        offset.back() = x;
        const std::size_t samples = std::min(chunk_width, width - x);
        chunk_at(offset).read(first, std::span(row_).subspan(x * size, samples * size));
    }
    if (H5Tconvert(type_.id(), type, width, row_.data(), nullptr, H5P_DEFAULT) < 0)
        throw Error(hdf5_complaint());
    std::memcpy(to.data(), row_.data(), to.size());
}

} // namespace sextant::format
