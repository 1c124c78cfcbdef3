// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/format/frames.hpp"
#include "tests/format/temporary_folder.hpp"
#include <blosc.h>
#include <bzlib.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zlib.h>
#include <zstd.h>

namespace sextant::test {

/// The JSON of a compressor and the function that compresses a chunk for it.
struct ZarrCompressor {
    std::string json;
    std::function<std::string(const std::string& chunk)> compress;
};

inline std::string deflated(const std::string& chunk, bool gzip) {
    z_stream stream{};
    if (deflateInit2(&stream, 5, Z_DEFLATED, gzip ? 31 : 15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::runtime_error("zlib cannot compress");
    std::string stored(deflateBound(&stream, chunk.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(chunk.data()));
    stream.avail_in = static_cast<uInt>(chunk.size());
    stream.next_out = reinterpret_cast<Bytef*>(stored.data());
    stream.avail_out = static_cast<uInt>(stored.size());
    deflate(&stream, Z_FINISH);
    stored.erase(stored.size() - stream.avail_out);
    deflateEnd(&stream);
    return stored;
}

inline std::string by_bzip2(const std::string& bytes) {
    auto size = static_cast<unsigned>(bytes.size() + bytes.size() / 100 + 600);
    std::string stored(size, '\0');
    if (BZ2_bzBuffToBuffCompress(stored.data(), &size, const_cast<char*>(bytes.data()),
                                 static_cast<unsigned>(bytes.size()), 9, 0, 0) != BZ_OK)
        throw std::runtime_error("bzip2 cannot compress");
    stored.resize(size);
    return stored;
}

inline std::string by_zstd(const std::string& chunk) {
    std::string stored(ZSTD_compressBound(chunk.size()), '\0');
    stored.resize(ZSTD_compress(stored.data(), stored.size(), chunk.data(), chunk.size(), 3));
    return stored;
}

inline std::string by_blosc(const std::string& chunk, const char* codec, int shuffle) {
    std::string stored(chunk.size() + BLOSC_MAX_OVERHEAD, '\0');
    const int size = blosc_compress_ctx(5, shuffle, 2, chunk.size(), chunk.data(), stored.data(),
                                        stored.size(), codec, 0, 1);
    if (size <= 0)
        throw std::runtime_error("Blosc cannot compress");
    stored.resize(static_cast<std::size_t>(size));
    return stored;
}

inline ZarrCompressor no_compressor() {
    return {"null", [](const std::string& chunk) { return chunk; }};
}

inline ZarrCompressor blosc_compressor(const std::string& codec, int shuffle) {
    return {fmt::format(R"({{"id": "blosc", "cname": "{}", "clevel": 5, "shuffle": {}}})", codec,
                        shuffle),
            [=](const std::string& chunk) { return by_blosc(chunk, codec.c_str(), shuffle); }};
}

inline std::vector<ZarrCompressor> zarr_compressors() {
    std::vector<ZarrCompressor> all{
        no_compressor(),
        {R"({"id": "zlib", "level": 5})", [](auto& chunk) { return deflated(chunk, false); }},
        {R"({"id": "gzip", "level": 5})", [](auto& chunk) { return deflated(chunk, true); }},
        {R"({"id": "zstd", "level": 3})", by_zstd}};
    for (const char* codec : {"blosclz", "lz4", "lz4hc", "zlib", "zstd"}) {
        for (const int shuffle : {BLOSC_NOSHUFFLE, BLOSC_SHUFFLE, BLOSC_BITSHUFFLE})
            all.push_back(blosc_compressor(codec, shuffle));
    }
    return all;
}

/// An array to be written by hand: the test pattern, of frames on the leading axes.
struct ZarrPattern {
    std::vector<std::int64_t> sides{3, 7, 13}, chunk{2, 4, 5};
    std::string type = "<u2", fill = "0", order = "C";
    std::string separator = "."; ///< "" to leave the field out
    ZarrCompressor compressor = no_compressor();
    std::function<bool(const std::string& name)> stored = [](auto&) { return true; };

    std::string text() const {
        return fmt::format(
            R"({{"zarr_format": 2, "shape": [{}], "chunks": [{}], "dtype": "{}", )"
            R"("compressor": {}, "fill_value": {}, "order": "{}", "filters": null{}}})",
            fmt::join(sides, ", "), fmt::join(chunk, ", "), type, compressor.json, fill, order,
            separator.empty() ? "" : fmt::format(R"(, "dimension_separator": "{}")", separator));
    }
};

/// Creates a file and the folders that lead to it.
inline void put_file(const std::filesystem::path& path, const std::string& bytes) {
    std::filesystem::create_directories(path.parent_path());
    fill_file(path.string(), bytes);
}

/// Calls `visit` with every position within `sides`; the last axis varies fastest.
inline void each_position(const std::vector<std::int64_t>& sides,
                          const std::function<void(const std::vector<std::int64_t>&)>& visit) {
    std::vector<std::int64_t> position(sides.size(), 0);
    for (bool more = true; more;) {
        visit(position);
        more = false;
        for (std::size_t axis = sides.size(); axis-- > 0 && !more;) {
            more = ++position[axis] < sides[axis];
            if (!more)
                position[axis] = 0;
        }
    }
}

/// The value of the test pattern at a position of an array.
inline float pattern_at(const std::vector<std::int64_t>& sides,
                        const std::vector<std::int64_t>& position) {
    std::int64_t frame = 0;
    for (std::size_t axis = 0; axis + 2 < sides.size(); ++axis)
        frame = frame * sides[axis] + position[axis];
    return pattern(frame, position.back(), position[position.size() - 2]);
}

/// The samples of chunk `index`, sample by sample, with the axes of an array in this order; those
/// beyond the array have the value 99.
inline std::string chunk_bytes(Sample sample, const std::vector<std::int64_t>& lengths,
                               const std::vector<std::int64_t>& chunk,
                               const std::vector<std::int64_t>& index,
                               const std::vector<std::int64_t>& order, std::endian endian) {
    std::vector<std::int64_t> sides;
    for (const std::int64_t axis : order)
        sides.push_back(chunk[static_cast<std::size_t>(axis)]);
    Bytewise bytes(endian);
    each_position(sides, [&](const std::vector<std::int64_t>& at) {
        std::vector<std::int64_t> position(at.size());
        bool inside = true;
        for (std::size_t i = 0; i < at.size(); ++i) {
            const auto axis = static_cast<std::size_t>(order[i]);
            position[axis] = index[axis] * chunk[axis] + at[i];
            inside = inside && position[axis] < lengths[axis];
        }
        put_sample(bytes, sample, inside ? pattern_at(lengths, position) : 99);
    });
    return bytes.bytes();
}

/// The axes of an array in order.
inline std::vector<std::int64_t> axes_in_order(std::size_t count) {
    std::vector<std::int64_t> axes(count);
    std::iota(axes.begin(), axes.end(), 0);
    return axes;
}

/// The number of parts of each length.
inline std::vector<std::int64_t> parts_of(const std::vector<std::int64_t>& sides,
                                          const std::vector<std::int64_t>& part) {
    std::vector<std::int64_t> counts;
    for (std::size_t axis = 0; axis < sides.size(); ++axis)
        counts.push_back((sides[axis] + part[axis] - 1) / part[axis]);
    return counts;
}

inline std::string zarr_chunk(const ZarrPattern& array, const std::vector<std::int64_t>& index) {
    std::vector<std::int64_t> order = axes_in_order(index.size());
    if (array.order == "F")
        std::ranges::reverse(order);
    return chunk_bytes(*sample_of(array.type[1], 8 * (array.type[2] - '0')), array.sides,
                       array.chunk, index, order,
                       array.type[0] == '>' ? std::endian::big : std::endian::little);
}

/// Writes an array into a folder.
inline void write_zarr(const std::string& folder, const ZarrPattern& array) {
    put_file(folder + "/.zarray", array.text());
    each_position(
        parts_of(array.sides, array.chunk), [&](const std::vector<std::int64_t>& position) {
            const std::string name =
                fmt::format("{}", fmt::join(position, array.separator == "/" ? "/" : "."));
            if (array.stored(name))
                put_file(folder + "/" + name,
                         array.compressor.compress(zarr_chunk(array, position)));
        });
}

} // namespace sextant::test
