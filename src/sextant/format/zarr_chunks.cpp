// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/zarr_chunks.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format/checks.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>

#include <blosc.h>
#include <fmt/format.h>
#include <sched.h>
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

/// Decodes zlib, or gzip of one or more members.
void decode_deflate(const std::string& path, bool gzip, std::span<const std::byte> stored,
                    std::span<std::byte> to) {
    constexpr int largest_window = 15, gzip_header = 16;
    z_stream stream{};
    if (inflateInit2(&stream, largest_window + (gzip ? gzip_header : 0)) != Z_OK)
        throw std::bad_alloc();
    const std::unique_ptr<z_stream, EndInflate> end(&stream);
    // zlib does not write to its input.
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

/// The codec and flags in a Blosc header.
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

} // namespace

void check_zarr_chunk(const std::string& path, ZarrCodec codec, Bytes stored, Bytes bytes) {
    if (codec == ZarrCodec::none) {
        if (stored != bytes)
            refuse_chunk(path, fmt::format("has {} bytes, expected a chunk of {}", stored, bytes));
        return;
    }
    constexpr Bytes overhead = Bytes{1} << 16;
    if (const Bytes most = bytes + bytes / 8 + overhead; stored > most) {
        refuse_chunk(path, fmt::format("has {} bytes, expected at most {} for a chunk of {}",
                                       stored, most, bytes));
    }
    if (bytes > modest_zarr_chunk)
        check_plausible(path, bytes, stored, deflate_ratio);
}

void decode_zarr_chunk(const std::string& path, ZarrCodec codec, std::span<const std::byte> stored,
                       std::span<std::byte> to) {
    switch (codec) {
    case ZarrCodec::none:
        check_zarr_chunk(path, codec, std::ssize(stored), std::ssize(to));
        std::memcpy(to.data(), stored.data(), to.size());
        return;
    case ZarrCodec::zlib:
    case ZarrCodec::gzip:
        return decode_deflate(path, codec == ZarrCodec::gzip, stored, to);
    case ZarrCodec::zstd:
        return decode_zstd(path, stored, to);
    case ZarrCodec::blosc:
        return decode_blosc(path, stored, to);
    }
    throw std::logic_error("unknown codec of Zarr");
}

void encode_zarr_chunk(std::span<const std::byte> chunk, std::vector<std::byte>& stored) {
    constexpr int level = 1;
    stored.resize(ZSTD_compressBound(chunk.size()));
    const std::size_t size =
        ZSTD_compress(stored.data(), stored.size(), chunk.data(), chunk.size(), level);
    if (ZSTD_isError(size) != 0)
        throw std::bad_alloc(); // the only error if the buffer suffices
    stored.resize(size);
}

int zarr_threads(Bytes chunk_bytes) {
    cpu_set_t allowed; // those of this process, which a launcher of ranks can have limited
    CPU_ZERO(&allowed);
    const Bytes cores = sched_getaffinity(0, sizeof allowed, &allowed) == 0
                            ? CPU_COUNT(&allowed)
                            : static_cast<Bytes>(std::max(1U, std::thread::hardware_concurrency()));
    return static_cast<int>(
        std::clamp<Bytes>(modest_zarr_chunk / std::max<Bytes>(1, chunk_bytes), 1, cores));
}

void run_zarr_tasks(std::int64_t count, int threads,
                    const std::function<void(std::int64_t task, int thread)>& run) {
    std::atomic<std::int64_t> next{0};
    std::mutex lock;
    std::int64_t failed = std::numeric_limits<std::int64_t>::max();
    std::exception_ptr error;
    const auto work = [&](int thread) {
        for (std::int64_t task = next++; task < count; task = next++) {
            try {
                run(task, thread);
            } catch (...) {
                const std::scoped_lock held(lock);
                if (task < failed) {
                    failed = task;
                    error = std::current_exception();
                }
                next = count; // begin no other task
            }
        }
    };
    {
        std::vector<std::jthread> others;
        const auto wanted = static_cast<int>(std::min<std::int64_t>(threads, count));
        try {
            for (int thread = 1; thread < wanted; ++thread)
                others.emplace_back(work, thread);
        } catch (const std::system_error&) {
            // The system has no more threads: the existing ones run all tasks.
        }
        work(0);
    }
    if (error)
        std::rethrow_exception(error);
}

} // namespace sextant::format
