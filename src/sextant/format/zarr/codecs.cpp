// SPDX-License-Identifier: BSD-3-Clause

#include "sextant/core/error.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/chunk_cutter.hpp"
#include "sextant/format/source_file.hpp"
#include "sextant/format/zarr/zarr.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <stdexcept>

#include <blosc.h>
#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

namespace sextant::format {

namespace {

[[noreturn]] void refuse_chunk(const std::string& path, const std::string& what) {
    throw InvalidFile(path, what);
}

void check_decoded(const std::string& path, Bytes decoded, Bytes expected) {
    if (decoded != expected) {
        refuse_chunk(path,
                     fmt::format("decodes to {} bytes, expected a chunk of {}", decoded, expected));
    }
}

[[noreturn]] void refuse_longer(const std::string& path, std::size_t expected) {
    refuse_chunk(path, fmt::format("decodes to more than its chunk of {} bytes", expected));
}

struct EndInflate {
    void operator()(z_stream* stream) const { inflateEnd(stream); }
};

/// Decodes zlib, or gzip with one or more members.
void decode_deflate(const std::string& path, bool gzip, std::span<const std::byte> stored,
                    std::span<std::byte> to) {
    constexpr int largest_window = 15, gzip_header = 16;
    z_stream stream{};
    if (inflateInit2(&stream, largest_window + (gzip ? gzip_header : 0)) != Z_OK)
        throw std::bad_alloc();
    const std::unique_ptr<z_stream, EndInflate> end(&stream);
    // zlib does not write to its input, despite the missing const.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(stored.data()));
    stream.avail_in = static_cast<uInt>(stored.size());
    stream.next_out = reinterpret_cast<Bytef*>(to.data());
    stream.avail_out = static_cast<uInt>(to.size());
    int status = inflate(&stream, Z_FINISH);
    while (gzip && status == Z_STREAM_END && stream.avail_in > 0) {
        inflateReset(&stream);
        status = inflate(&stream, Z_FINISH);
    }
    if (status == Z_BUF_ERROR && stream.avail_out == 0)
        refuse_longer(path, to.size());
    if (status == Z_BUF_ERROR || status == Z_OK)
        refuse_chunk(path, "is truncated: its compressed data have no end");
    if (status != Z_STREAM_END) {
        refuse_chunk(path, fmt::format("cannot be decoded as {}: {}", gzip ? "gzip" : "zlib",
                                       stream.msg ? stream.msg : "damaged"));
    }
    if (stream.avail_in > 0)
        refuse_chunk(path, fmt::format("has {} bytes after its data", stream.avail_in));
    check_decoded(path, std::ssize(to) - Bytes{stream.avail_out}, std::ssize(to));
}

void decode_zstd(const std::string& path, std::span<const std::byte> stored,
                 std::span<std::byte> to) {
    const unsigned long long stated = ZSTD_getFrameContentSize(stored.data(), stored.size());
    if (stated != ZSTD_CONTENTSIZE_UNKNOWN && stated != ZSTD_CONTENTSIZE_ERROR &&
        stated > to.size())
        refuse_longer(path, to.size());
    const std::size_t decoded = ZSTD_decompress(to.data(), to.size(), stored.data(), stored.size());
    if (ZSTD_isError(decoded) != 0)
        refuse_chunk(path,
                     fmt::format("cannot be decoded as zstd: {}", ZSTD_getErrorName(decoded)));
    check_decoded(path, static_cast<Bytes>(decoded), std::ssize(to));
}

/// Byte offsets in a Blosc header. The flags include the codec.
enum BloscHeader : std::size_t { blosc_flags = 2 };

void decode_blosc(const std::string& path, std::span<const std::byte> stored,
                  std::span<std::byte> to) {
    std::size_t decoded = 0;
    if (stored.size() < BLOSC_MIN_HEADER_LENGTH ||
        blosc_cbuffer_validate(stored.data(), stored.size(), &decoded) != 0)
        refuse_chunk(path, "cannot be decoded as blosc: its header does not match its length");
    check_decoded(path, static_cast<Bytes>(decoded), std::ssize(to));
    constexpr std::array supported{BLOSC_BLOSCLZ_FORMAT, BLOSC_LZ4_FORMAT, BLOSC_ZLIB_FORMAT,
                                   BLOSC_ZSTD_FORMAT};
    const int flags = std::to_integer<int>(stored[blosc_flags]), codec = flags >> 5;
    if ((flags & BLOSC_MEMCPYED) == 0 &&
        std::find(supported.begin(), supported.end(), codec) == supported.end()) {
        refuse_chunk(path, fmt::format("has Blosc data of codec {}, expected blosclz, lz4, zlib or "
                                       "zstd",
                                       codec));
    }
    constexpr int threads = 1;
    if (blosc_decompress_ctx(stored.data(), to.data(), to.size(), threads) !=
        static_cast<int>(to.size()))
        refuse_chunk(path, "cannot be decoded as blosc: damaged");
}

bool compresses(ZarrCodec codec) {
    return codec != ZarrCodec::crc32c;
}

void decompress(const std::string& path, ZarrCodec codec, std::span<const std::byte> stored,
                std::span<std::byte> to) {
    switch (codec) {
    case ZarrCodec::zlib:
    case ZarrCodec::gzip:
        return decode_deflate(path, codec == ZarrCodec::gzip, stored, to);
    case ZarrCodec::zstd:
        return decode_zstd(path, stored, to);
    case ZarrCodec::blosc:
        return decode_blosc(path, stored, to);
    case ZarrCodec::crc32c:
        break;
    }
    throw std::logic_error("unknown Zarr codec");
}

/// Computes CRC-32C (Castagnoli) as in RFC 3720, eight bytes at a time.
std::uint32_t crc32c(std::span<const std::byte> bytes) {
    using Table = std::array<std::array<std::uint32_t, 256>, 8>;
    static constexpr Table table = [] {
        constexpr std::uint32_t polynomial = 0x82f63b78;
        Table made{};
        for (std::uint32_t i = 0; i < 256; ++i) {
            made[0][i] = i;
            for (int bit = 0; bit < 8; ++bit)
                made[0][i] = made[0][i] >> 1 ^ (made[0][i] % 2 == 1 ? polynomial : 0);
        }
        for (std::size_t k = 1; k < 8; ++k) {
            for (std::size_t i = 0; i < 256; ++i)
                made[k][i] = made[k - 1][i] >> 8 ^ made[0][made[k - 1][i] & 0xff];
        }
        return made;
    }();
    std::uint32_t sum = ~std::uint32_t{0};
    for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
        const std::uint64_t word = number_in<std::uint64_t>(bytes.first(8), 0, false) ^ sum;
        sum = 0;
        for (std::size_t k = 0; k < 8; ++k)
            sum ^= table[7 - k][word >> 8 * k & 0xff];
    }
    for (const std::byte byte : bytes)
        sum = sum >> 8 ^ table[0][(sum ^ std::to_integer<std::uint32_t>(byte)) & 0xff];
    return ~sum;
}

constexpr std::size_t checksum_bytes = 4; // little-endian, after the bytes that it protects

/// Verifies the checksum at the end of `stored`, and returns the bytes before it. Throws
/// InvalidFile if the checksum is wrong.
std::span<const std::byte> checked(const std::string& path, std::span<const std::byte> stored) {
    if (stored.size() < checksum_bytes)
        refuse_chunk(path, "is truncated: its checksum is missing");
    const auto bytes = stored.first(stored.size() - checksum_bytes);
    const auto stated = number_in<std::uint32_t>(stored.last(checksum_bytes), 0, false);
    if (const std::uint32_t found = crc32c(bytes); found != stated)
        refuse_chunk(path,
                     fmt::format("is damaged: its checksum (crc32c) is {:08x}, expected {:08x}",
                                 found, stated));
    return bytes;
}

} // namespace

void check_zarr_chunk(const std::string& path, std::span<const ZarrCodec> codecs, Bytes stored,
                      Bytes bytes) {
    const auto checksums =
        static_cast<Bytes>(checksum_bytes) * std::ranges::count(codecs, ZarrCodec::crc32c);
    if (std::ranges::none_of(codecs, compresses)) {
        if (stored != bytes + checksums)
            refuse_chunk(path, fmt::format("has {} bytes, expected a chunk of {}", stored,
                                           bytes + checksums));
        return;
    }
    constexpr Bytes overhead = Bytes{1} << 16;
    if (const Bytes most = bytes + bytes / 8 + overhead; stored > most) {
        refuse_chunk(path, fmt::format("has {} bytes, expected at most {} for a chunk of {}",
                                       stored, most, bytes));
    }
    if (bytes > modest_chunk)
        check_plausible(path, bytes, stored, deflate_ratio);
}

void decode_zarr_chunk(const std::string& path, std::span<const ZarrCodec> codecs,
                       std::span<const std::byte> stored, std::span<std::byte> to) {
    while (!codecs.empty() && !compresses(codecs.back())) {
        stored = checked(path, stored);
        codecs = codecs.first(codecs.size() - 1);
    }
    if (codecs.empty()) {
        check_zarr_chunk(path, codecs, std::ssize(stored), std::ssize(to));
        std::memcpy(to.data(), stored.data(), to.size());
    } else if (codecs.size() == 1) {
        decompress(path, codecs.front(), stored, to);
    } else { // the compressed bytes include checksums
        std::vector<std::byte> sums(to.size() + checksum_bytes * (codecs.size() - 1));
        decompress(path, codecs.back(), stored, sums);
        decode_zarr_chunk(path, codecs.first(codecs.size() - 1), sums, to);
    }
}

std::vector<ZarrRange> decode_zarr_index(const std::string& path, const ZarrArray& array,
                                         std::span<const std::byte> stored, Bytes file) {
    if (array.shards->index_checked)
        stored = checked(path + ", the index", stored);
    std::vector<ZarrRange> chunks(static_cast<std::size_t>(array.chunks_per_shard()));
    std::memcpy(chunks.data(), stored.data(), stored.size());
    if (array.shards->index_swapped)
        swap_bytes(Sample::u64, std::as_writable_bytes(std::span(chunks)));
    const auto size = static_cast<std::uint64_t>(file);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        const ZarrRange& range = chunks[i];
        if (!range.is_missing() && (range.offset > size || range.bytes > size - range.offset))
            refuse_chunk(
                path,
                fmt::format(
                    "has {} bytes, but its index states {} bytes starting at byte {} for chunk {}",
                    size, range.bytes, range.offset, i));
    }
    return chunks;
}

std::vector<std::byte> encode_zarr_index(std::span<const ZarrRange> chunks) {
    const auto bytes = std::as_bytes(chunks);
    std::vector<std::byte> stored(bytes.begin(), bytes.end());
    const std::uint32_t sum = crc32c(bytes);
    stored.resize(stored.size() + checksum_bytes);
    put_number(stored, stored.size() - checksum_bytes, sum);
    return stored;
}

void encode_zarr_chunk(std::span<const std::byte> chunk, std::vector<std::byte>& stored) {
    constexpr int level = 1;
    stored.resize(ZSTD_compressBound(chunk.size()));
    const std::size_t size =
        ZSTD_compress(stored.data(), stored.size(), chunk.data(), chunk.size(), level);
    if (ZSTD_isError(size) != 0)
        throw std::bad_alloc(); // no other error is possible with a sufficient buffer
    stored.resize(size);
}

} // namespace sextant::format
