// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/array_source.hpp"
#include "sextant/core/units.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// The metadata of an HDF5 file with one chunked dataset, "/data".
//
// Source    HDF5 File Format Specification 2.0, superblock version 0

namespace sextant::format {

/// The position of the first chunk in the file. The metadata of the dataset end before this
/// position.
inline constexpr std::uint64_t hdf5_chunks_at = 2048;
inline constexpr int hdf5_deflate_level = 1;

/// A chunk in the file. `bytes` is 0 if the chunk is not stored; all its samples then have the fill
/// value.
struct Hdf5Chunk {
    Bytes position = 0, bytes = 0;
};

/// The bytes of the B-tree that maps positions in the dataset to chunks, and the position of its
/// root in the file.
struct Hdf5ChunkTree {
    std::vector<std::byte> bytes;
    std::uint64_t root = 0;
};

/// Returns the B-tree of the chunks of an array. `chunks` are in row-major order. The caller stores
/// the tree at `position` in the file, a multiple of 8.
///
/// Requires  at least one stored chunk.
Hdf5ChunkTree hdf5_chunk_tree(const ArrayHeader& array, std::span<const Hdf5Chunk> chunks,
                              std::uint64_t position);

/// Returns all bytes before the chunks: a root group with the dataset. `fill` is the fill value,
/// and `element` the value of the attribute "element_size_um"; either may be empty. `root` is the
/// position of the root of the B-tree, and `end` is the length of the file.
std::vector<std::byte> hdf5_metadata(const ArrayHeader& array, bool deflated,
                                     std::span<const std::byte> fill,
                                     std::span<const double> element, std::uint64_t root,
                                     std::uint64_t end);

} // namespace sextant::format
