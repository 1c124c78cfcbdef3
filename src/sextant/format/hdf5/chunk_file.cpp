// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/hdf5/chunk_file.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <string_view>
#include <utility>

#include <zlib.h>

namespace sextant::format {

namespace {

void deflate_chunk(ChunkBuffers& buffers) {
    auto bytes = static_cast<uLongf>(compressBound(static_cast<uLong>(buffers.chunk.size())));
    buffers.stored.resize(bytes);
    if (compress2(reinterpret_cast<Bytef*>(buffers.stored.data()), &bytes,
                  reinterpret_cast<const Bytef*>(buffers.chunk.data()),
                  static_cast<uLong>(buffers.chunk.size()), hdf5_deflate_level) != Z_OK)
        throw std::bad_alloc();
    buffers.stored.resize(bytes);
}

std::size_t number_of_chunks(const ArrayHeader& array) {
    std::int64_t all = 1;
    for (std::size_t axis = 0; axis < array.lengths.size(); ++axis)
        all *= (array.lengths[axis] + array.chunk[axis] - 1) / array.chunk[axis];
    return static_cast<std::size_t>(all);
}

} // namespace

Hdf5ChunkFile::Hdf5ChunkFile(const std::string& path, ArrayHeader array,
                             std::vector<std::byte> fill, std::vector<double> element)
    : file_(path),
      array_(std::move(array)),
      deflated_(name(array_.sample)[0] != 'f'),
      fill_(std::move(fill)),
      element_(std::move(element)),
      chunks_(number_of_chunks(array_)) {
    file_.seek(hdf5_chunks_at);
}

std::size_t Hdf5ChunkFile::number_of(std::span<const std::int64_t> position) const {
    std::int64_t number = 0;
    for (std::size_t axis = 0; axis < position.size(); ++axis) {
        const std::int64_t length = array_.chunk[axis];
        number = number * ((array_.lengths[axis] + length - 1) / length) + position[axis];
    }
    return static_cast<std::size_t>(number);
}

/// Compresses a chunk. Sparse volumes have many chunks of zeros, which are compressed only once.
void Hdf5ChunkFile::compress(ChunkBuffers& buffers) {
    if (!consists_of(std::array{std::byte{0}}, buffers.chunk))
        return deflate_chunk(buffers);
    std::call_once(zeros_made_, [&] {
        deflate_chunk(buffers);
        zeros_ = buffers.stored;
    });
    buffers.stored = zeros_;
}

void Hdf5ChunkFile::store(std::span<const std::int64_t> position, ChunkBuffers& buffers) {
    const std::size_t number = number_of(position);
    if (!deflated_) { // all uncompressed chunks have the same size
        const std::scoped_lock held(lock_);
        const Bytes at =
            static_cast<Bytes>(hdf5_chunks_at) + static_cast<Bytes>(number) * array_.chunk_bytes();
        if (at != file_.position())
            file_.seek(at);
        return write(number, buffers.chunk);
    }
    compress(buffers);
    const std::scoped_lock held(lock_);
    keep_waiting(number, std::exchange(buffers.stored, {}));
    while (!waiting_.empty() && waiting_.begin()->first == next_)
        write_first_waiting();
}

void Hdf5ChunkFile::keep_waiting(std::size_t number, std::vector<std::byte> bytes) {
    constexpr Bytes most_waiting_bytes = Bytes{32} << 20;
    const Bytes size = std::ssize(bytes);
    Waiting waiting;
    if (number == next_ || waiting_bytes_ + size <= most_waiting_bytes) {
        waiting_bytes_ += size;
        waiting.bytes = std::move(bytes);
    } else {
        if (!scratch_)
            scratch_.emplace(file_.path());
        scratch_->write(scratch_bytes_, bytes);
        waiting.spilled = {scratch_bytes_, size};
        scratch_bytes_ += size;
    }
    waiting_.emplace(number, std::move(waiting));
}

void Hdf5ChunkFile::write_first_waiting() {
    const auto first = waiting_.begin();
    Waiting& waiting = first->second;
    if (waiting.bytes.empty()) {
        waiting.bytes.resize(static_cast<std::size_t>(waiting.spilled.bytes));
        scratch_->read(waiting.spilled.position, waiting.bytes);
    } else {
        waiting_bytes_ -= std::ssize(waiting.bytes);
    }
    write(first->first, waiting.bytes);
    next_ = first->first + 1;
    waiting_.erase(first);
}

void Hdf5ChunkFile::write(std::size_t number, std::span<const std::byte> bytes) {
    chunks_[number] = {file_.position(), std::ssize(bytes)};
    file_.write(bytes);
}

void Hdf5ChunkFile::commit() {
    while (!waiting_.empty())
        write_first_waiting();
    // A file without any chunk would look damaged, so one chunk is stored.
    if (std::ranges::all_of(chunks_, [](const Hdf5Chunk& chunk) { return chunk.bytes == 0; })) {
        ChunkBuffers buffers;
        buffers.chunk.resize(static_cast<std::size_t>(array_.chunk_bytes()));
        if (!fill_.empty())
            fill_samples(fill_, buffers.chunk);
        const std::vector<std::int64_t> first(array_.lengths.size(), 0);
        store(first, buffers);
    }
    Bytes end = 0;
    for (const Hdf5Chunk& chunk : chunks_)
        end = std::max(end, chunk.position + chunk.bytes);
    if (end != file_.position())
        file_.seek(end);
    file_.write(std::string_view("\0\0\0\0\0\0\0", static_cast<std::size_t>((8 - end % 8) % 8)));
    const Hdf5ChunkTree tree =
        hdf5_chunk_tree(array_, chunks_, static_cast<std::uint64_t>(file_.position()));
    file_.write(tree.bytes);
    const auto length = static_cast<std::uint64_t>(file_.position());
    file_.seek(0);
    file_.write(hdf5_metadata(array_, deflated_, fill_, element_, tree.root, length));
    file_.commit();
}

} // namespace sextant::format
