// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/format/zarr_files.hpp"

namespace sextant::test {

/// CRC-32C bit by bit, in little-endian order.
inline std::string checksum(const std::string& bytes) {
    std::uint32_t sum = ~std::uint32_t{0};
    for (const unsigned char byte : bytes) {
        sum ^= byte;
        for (int bit = 0; bit < 8; ++bit)
            sum = sum >> 1 ^ (sum % 2 == 1 ? 0x82f63b78U : 0);
    }
    return Bytewise(std::endian::little).put<std::uint32_t>(~sum).bytes();
}

/// The codecs of version 3 after `bytes`, as JSON that begins with a comma.
inline std::vector<ZarrCompressor> zarr3_compressors() {
    const auto summed = [](const std::string& chunk) { return chunk + checksum(chunk); };
    std::vector<ZarrCompressor> all{
        {"", [](const std::string& chunk) { return chunk; }},
        {R"(, {"name": "gzip", "configuration": {"level": 5}})",
         [](auto& chunk) { return deflated(chunk, true); }},
        {R"(, {"name": "zstd", "configuration": {"level": 3, "checksum": false}})", by_zstd},
        {R"(, "crc32c")", summed},
        {R"(, {"name": "zstd", "configuration": {"level": 3}}, {"name": "crc32c"})",
         [=](auto& chunk) { return summed(by_zstd(chunk)); }},
        {R"(, {"name": "crc32c"}, {"name": "gzip", "configuration": {"level": 1}})",
         [=](auto& chunk) { return deflated(summed(chunk), true); }},
        {R"(, {"name": "made.up", "must_understand": false})",
         [](const std::string& chunk) { return chunk; }}};
    for (const char* codec : {"blosclz", "lz4", "lz4hc", "zlib", "zstd"})
        all.push_back({fmt::format(R"(, {{"name": "blosc", "configuration": {{"cname": "{}", )"
                                   R"("clevel": 5, "shuffle": "shuffle", "typesize": 2}}}})",
                                   codec),
                       [=](auto& chunk) { return by_blosc(chunk, codec, BLOSC_SHUFFLE); }});
    return all;
}

/// The index of a shard and the lengths of shards.
struct Zarr3Shards {
    std::vector<std::int64_t> sides{4, 8, 10};
    std::string place = "end", order = "little";
    bool checked = true;
};

/// An array of version 3 to be written by hand: the test pattern, of frames on the leading axes.
struct Zarr3Pattern {
    std::vector<std::int64_t> sides{3, 7, 13}, chunk{2, 4, 5};
    std::string type = "uint16", fill = "0", endian = "little";
    std::vector<std::int64_t> order = {}; ///< of a codec transpose; empty for none
    ZarrCompressor compressor = zarr3_compressors().front();
    std::optional<Zarr3Shards> shards = {};
    std::string keys = R"({"name": "default"})"; ///< the encoding of names
    std::string prefix = "c/", separator = "/";  ///< as they are in the names
    std::string more = "";                       ///< further fields, which begin with a comma
    std::function<bool(const std::string& chunk)> stored = [](auto&) { return true; };

    std::string codecs() const {
        std::string all = order.empty() ? ""
                                        : fmt::format(R"({{"name": "transpose", "configuration": )"
                                                      R"({{"order": [{}]}}}}, )",
                                                      fmt::join(order, ", "));
        all += fmt::format(R"({{"name": "bytes", "configuration": {{"endian": "{}"}}}}{})", endian,
                           compressor.json);
        if (!shards)
            return all;
        return fmt::format(R"({{"name": "sharding_indexed", "configuration": {{)"
                           R"("chunk_shape": [{}], "codecs": [{}], "index_codecs": [)"
                           R"({{"name": "bytes", "configuration": {{"endian": "{}"}}}}{}], )"
                           R"("index_location": "{}"}}}})",
                           fmt::join(chunk, ", "), all, shards->order,
                           shards->checked ? R"(, {"name": "crc32c"})" : "", shards->place);
    }
    std::string text() const {
        return fmt::format(
            R"({{"zarr_format": 3, "node_type": "array", "shape": [{}], "data_type": "{}", )"
            R"("chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [{}]}}}}, )"
            R"("chunk_key_encoding": {}, "fill_value": {}, "codecs": [{}]{}}})",
            fmt::join(sides, ", "), type, fmt::join(shards ? shards->sides : chunk, ", "), keys,
            fill, codecs(), more);
    }
};

inline std::string zarr3_chunk(const Zarr3Pattern& array, const std::vector<std::int64_t>& index) {
    const std::size_t digits = array.type.find_first_of("123456789");
    const auto sample = sample_of(array.type[0], std::stoi(array.type.substr(digits)));
    return chunk_bytes(*sample, array.sides, array.chunk, index,
                       array.order.empty() ? axes_in_order(index.size()) : array.order,
                       array.endian == "big" ? std::endian::big : std::endian::little);
}

/// A shard: its chunks that are stored, and their index.
inline std::string zarr3_shard(const Zarr3Pattern& array, const std::vector<std::int64_t>& shard) {
    const std::vector<std::int64_t> counts = parts_of(array.shards->sides, array.chunk);
    const bool at_start = array.shards->place == "start";
    std::int64_t all = 1;
    for (const std::int64_t count : counts)
        all *= count;
    const std::size_t length = static_cast<std::size_t>(all) * 16 + (array.shards->checked ? 4 : 0);
    std::string chunks;
    Bytewise index(array.shards->order == "big" ? std::endian::big : std::endian::little);
    each_position(counts, [&](std::vector<std::int64_t> chunk) {
        for (std::size_t axis = 0; axis < chunk.size(); ++axis)
            chunk[axis] += shard[axis] * counts[axis];
        bool inside = true;
        for (std::size_t axis = 0; axis < chunk.size(); ++axis)
            inside = inside && chunk[axis] * array.chunk[axis] < array.sides[axis];
        if (!inside || !array.stored(fmt::format("{}", fmt::join(chunk, ".")))) {
            index.put<std::uint64_t>(~std::uint64_t{0}).put<std::uint64_t>(~std::uint64_t{0});
            return;
        }
        const std::string bytes = array.compressor.compress(zarr3_chunk(array, chunk));
        index.put<std::uint64_t>(chunks.size() + (at_start ? length : 0))
            .put<std::uint64_t>(bytes.size());
        chunks += bytes;
    });
    const std::string tail =
        index.bytes() + (array.shards->checked ? checksum(index.bytes()) : std::string());
    return at_start ? tail + chunks : chunks + tail;
}

/// Writes an array into a folder.
inline void write_zarr3(const std::string& folder, const Zarr3Pattern& array) {
    put_file(folder + "/zarr.json", array.text());
    each_position(parts_of(array.sides, array.shards ? array.shards->sides : array.chunk),
                  [&](const std::vector<std::int64_t>& position) {
                      const std::string name =
                          array.prefix + fmt::format("{}", fmt::join(position, array.separator));
                      if (array.shards)
                          put_file(folder + "/" + name, zarr3_shard(array, position));
                      else if (array.stored(fmt::format("{}", fmt::join(position, "."))))
                          put_file(folder + "/" + name,
                                   array.compressor.compress(zarr3_chunk(array, position)));
                  });
}

} // namespace sextant::test
