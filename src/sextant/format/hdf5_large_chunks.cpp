// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/hdf5_large_chunks.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace sextant::format {

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
        throw Error("a chunk is stored without its filters, and too short: damaged");
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
    Elements first = 0; // number of the row's first sample in its chunk
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
    row_.resize(std::max(width * size, to.size())); // both before and after conversion
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
