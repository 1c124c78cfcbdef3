// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/hdf5/large_chunks.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format/checks.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace sextant::format {

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
    Elements first = 0; // index of the row's first sample in the chunk
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
    row_.resize(std::max(width * size, to.size())); // holds samples before and after conversion
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
