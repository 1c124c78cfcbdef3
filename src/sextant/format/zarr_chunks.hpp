// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/format/zarr_array.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant::format {

/// Chunks up to this size are decoded whatever their compression.
inline constexpr Bytes modest_zarr_chunk = Bytes{1} << 28;

/// Throws InvalidFile if a chunk of `bytes` cannot be stored in a file of `stored` bytes: it is too
/// long, or the chunk exceeds modest_zarr_chunk and deflate_ratio times its stored size. Call this
/// before memory is allocated.
void check_zarr_chunk(const std::string& path, ZarrCodec codec, Bytes stored, Bytes bytes);

/// Decodes a chunk into `to`. `path` is used in error messages.
///
/// Requires  intact data that decode to exactly the size of `to`; otherwise throws InvalidFile.
void decode_zarr_chunk(const std::string& path, ZarrCodec codec, std::span<const std::byte> stored,
                       std::span<std::byte> to);

/// Compresses a chunk with Zstandard at level 1. `stored` is overwritten.
void encode_zarr_chunk(std::span<const std::byte> chunk, std::vector<std::byte>& stored);

/// The number of threads that run_zarr_tasks() uses for chunks of this size: their memory is at
/// most modest_zarr_chunk, unless a single chunk is larger.
int zarr_threads(Bytes chunk_bytes);

/// Runs the tasks 0 to count - 1 on up to `threads` threads. If tasks throw, rethrows the exception
/// of the one with the lowest number.
void run_zarr_tasks(std::int64_t count, int threads,
                    const std::function<void(std::int64_t task, int thread)>& run);

} // namespace sextant::format
