// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/array/sample.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/units.hpp"
#include "sextant/format/axis_metadata.hpp"
#include "sextant/format/checks.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Zarr stores, versions 2 and 3: the metadata of arrays (metadata.cpp), the encoding of chunks
// (codecs.cpp), and the groups and images in a store (store.cpp). source.cpp reads
// arrays and frames, sink.cpp writes them.
namespace sextant::format {

/// A codec that compresses the bytes of a chunk or adds a checksum.
enum class ZarrCodec { zlib, gzip, zstd, blosc, crc32c };

/// The layout of shards (sharding_indexed): files that hold several chunks and an index of their
/// positions.
struct ZarrShards {
    std::vector<std::int64_t> sides; ///< lengths of a shard, multiples of those of a chunk
    bool index_at_start = false;     ///< true if the index precedes the chunks
    bool index_swapped = false;      ///< true if the index's byte order differs from the machine's
    bool index_checked = true;       ///< true if a checksum (crc32c) follows the index
};

/// The position of a shard along each axis, in shards, and the number of a chunk in it, in C order.
struct ZarrShardChunk {
    std::vector<std::int64_t> shard;
    std::size_t number = 0;
};

/// An array, as described by its file `.zarray` or `zarr.json`. All chunks have the same shape;
/// those at the end of an axis extend beyond the array.
struct ZarrArray {
    std::vector<std::int64_t> sides, chunk; ///< lengths of the array and of a chunk along the axes
    Sample sample = Sample::u8;
    int version = 3;
    bool boolean = false; ///< true for bools: bytes other than 0 are read as 1
    bool swapped = false; ///< true if the samples' byte order differs from the machine's
    /// The axes from the slowest to the fastest within a chunk; empty for C order.
    std::vector<std::size_t> order = {};
    std::vector<ZarrCodec> codecs = {}; ///< in the order of encoding; at most one compresses
    std::optional<ZarrShards> shards = {};
    char separator = '/';                ///< between the numbers in the name of a chunk's file
    bool prefixed = true;                ///< true if the names of chunk files begin with "c"
    std::vector<std::byte> fill = {};    ///< the sample of missing chunks, in native byte order
    std::vector<std::string> names = {}; ///< dimension_names; empty unless all axes have names

    Bytes chunk_bytes() const;
    /// The distance between neighbours along each axis within a chunk, in samples.
    std::vector<Elements> chunk_steps() const;
    /// The lengths of the block of the array that one file stores: a shard, or a chunk.
    const std::vector<std::int64_t>& file_sides() const { return shards ? shards->sides : chunk; }
    /// The file name of a chunk or shard at a position along each axis: "c/0/3" or "0.3".
    std::string chunk_name(std::span<const std::int64_t> position) const;
    Elements chunks_per_shard() const;
    /// Requires an array with shards.
    ZarrShardChunk in_shard(std::span<const std::int64_t> chunk) const;
    Bytes index_bytes() const; ///< size of the index of a shard
};

/// Parses the metadata of an array: the text of a file `.zarray` or `zarr.json`. `path` is used in
/// error messages.
///
/// Requires  two or more axes, chunks of at most 2 GiB and shards of at most 2²⁴ chunks; integers
///           of 8 to 64 bits, floats of 16 to 64 bits or bools; known codecs, of which at most one
///           compresses; no codecs before or after sharding_indexed. Otherwise throws InvalidFile.
ZarrArray parse_zarr_array(std::string_view text, const std::string& path);

/// Returns the text of a file `.zarray` or `zarr.json`, depending on the version of the array. An
/// empty fill value is written as 0.
///
/// Requires  C order and no bools (std::logic_error).
std::string zarr_array_text(const ZarrArray& array);

/// Throws InvalidFile if a `zarr.json` of version 3 has an unknown field that must be understood.
void require_understood(const JsonField& node);

// Chunks.

/// Throws InvalidFile if a chunk of `bytes` cannot be stored in `stored` bytes: either `stored` is
/// too large, or the chunk exceeds both modest_chunk (checks.hpp) and deflate_ratio times `stored`.
/// Call this function before memory is allocated.
void check_zarr_chunk(const std::string& path, std::span<const ZarrCodec> codecs, Bytes stored,
                      Bytes bytes);

/// Decodes a chunk into `to`. `path` is used in error messages.
///
/// Requires  intact data that decode to exactly the size of `to`; otherwise throws InvalidFile.
void decode_zarr_chunk(const std::string& path, std::span<const ZarrCodec> codecs,
                       std::span<const std::byte> stored, std::span<std::byte> to);

/// Compresses a chunk by zstd at level 1. `stored` is overwritten.
void encode_zarr_chunk(std::span<const std::byte> chunk, std::vector<std::byte>& stored);

/// The position and size of a chunk in the file of a shard. Both are 2⁶⁴ − 1 if the chunk is not
/// stored.
struct ZarrRange {
    std::uint64_t offset = ~std::uint64_t{0}, bytes = ~std::uint64_t{0};
    bool is_missing() const { return offset == ~std::uint64_t{0} && bytes == offset; }
};

/// Decodes the index of a shard. `file` is the size of the shard's file.
///
/// Requires  a stored index of array.index_bytes(). Throws InvalidFile if its checksum is wrong, or
///           if a chunk is outside the file.
std::vector<ZarrRange> decode_zarr_index(const std::string& path, const ZarrArray& array,
                                         std::span<const std::byte> stored, Bytes file);

/// Returns the encoded index of a shard, which ends the shard's file, with its checksum.
std::vector<std::byte> encode_zarr_index(std::span<const ZarrRange> chunks);

// Stores.

/// A folder of Zarr arrays. After symbolic links are resolved, files outside the folder are read
/// only if external files are allowed.
class ZarrStore {
  public:
    /// Throws InvalidFile if `path` is not a folder.
    ZarrStore(const std::string& path, bool allow_external);

    const std::string& path() const { return path_; }
    /// The path of a file or folder in the store.
    std::string path_of(const std::string& name) const;
    /// True if the store has a file or folder of this name. Throws InvalidFile if it must not be
    /// read, or if it is a symbolic link to a missing file.
    bool has(const std::string& name) const;

  private:
    void refuse_broken_links(std::filesystem::path path) const;

    std::string path_;
    std::filesystem::path root_; ///< the folder after symbolic links are resolved
    bool allow_external_;
};

/// An array in a store, with the metadata of OME-Zarr, if there are any.
/// The names of the axes are from OME-Zarr, dimension_names or xarray (_ARRAY_DIMENSIONS).
struct ZarrSeries : AxisMetadata {
    std::string name; ///< the folder of the array in the store; "" for the store itself
    ZarrArray array;
    std::string axes = {};   ///< a letter of "tczyx" per axis; empty if there are other axes
    std::string remark = {}; ///< names the arrays that are not read; "" if there are no others

    /// The name in the store of a file of the array.
    std::string file(const std::string& name) const;
};

/// Finds an array. `detail` names the array, or a group that contains it. In a group, the array is
/// the first dataset of OME-Zarr's multiscales. Without multiscales, it is the only array, or, with
/// a remark, the only array that is not a label image.
///
/// Throws    InvalidFile if there is no such array, if a group has several, or if metadata are
///           damaged or refer to a folder outside their group.
ZarrSeries find_zarr_series(const ZarrStore& store, const std::string& detail);

} // namespace sextant::format
