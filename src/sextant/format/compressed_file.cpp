// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/compressed_file.hpp"

#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/format/checks.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <utility>

#include <bzlib.h>
#include <fmt/format.h>
#include <zlib.h>

namespace sextant::format {

namespace {

constexpr int gzip_window = 15 + 16; // largest window (15), plus 16 for the gzip header
constexpr std::size_t compressed_piece = std::size_t{1} << 17;

enum class Decoded { some, all, nothing }; ///< nothing: the data are damaged

/// Decodes gzip with zlib.
struct GzipDecoder {
    z_stream state{};

    GzipDecoder() {
        if (inflateInit2(&state, gzip_window) != Z_OK)
            throw std::bad_alloc();
    }
    GzipDecoder(const GzipDecoder&) = delete;
    GzipDecoder& operator=(const GzipDecoder&) = delete;
    ~GzipDecoder() { inflateEnd(&state); }

    static bool begins(const SourceFile& file, Bytes position) {
        std::array<std::byte, 3> start{}; // the third byte is the method, which is always deflate
        return file.read_at(position, start) == std::ssize(start) && start[0] == std::byte{0x1f} &&
               start[1] == std::byte{0x8b} && start[2] == std::byte{8};
    }
    Decoded decode() {
        const int status = inflate(&state, Z_NO_FLUSH);
        return status == Z_STREAM_END                    ? Decoded::all
               : status == Z_OK || status == Z_BUF_ERROR ? Decoded::some
                                                         : Decoded::nothing;
    }
    void restart() { inflateReset(&state); }
    const char* reason() const { return state.msg != nullptr ? state.msg : "damaged"; }
};

/// Decodes bzip2 with libbz2. The decoder takes up to 4 MiB.
struct Bzip2Decoder {
    bz_stream state{};

    Bzip2Decoder() {
        if (BZ2_bzDecompressInit(&state, 0, 0) != BZ_OK)
            throw std::bad_alloc();
    }
    Bzip2Decoder(const Bzip2Decoder&) = delete;
    Bzip2Decoder& operator=(const Bzip2Decoder&) = delete;
    ~Bzip2Decoder() { BZ2_bzDecompressEnd(&state); }

    /// True if the bytes at `position` are "BZh" and a block size.
    static bool begins(const SourceFile& file, Bytes position) {
        std::array<char, 4> start{};
        return file.read_at(position, std::as_writable_bytes(std::span(start))) ==
                   std::ssize(start) &&
               start[0] == 'B' && start[1] == 'Z' && start[2] == 'h' && start[3] >= '1' &&
               start[3] <= '9';
    }
    Decoded decode() {
        const int status = BZ2_bzDecompress(&state);
        return status == BZ_STREAM_END ? Decoded::all
               : status == BZ_OK       ? Decoded::some
                                       : Decoded::nothing;
    }
    void restart() {
        bz_stream next{};
        next.next_in = state.next_in;
        next.avail_in = state.avail_in;
        BZ2_bzDecompressEnd(&state);
        state = next;
        if (BZ2_bzDecompressInit(&state, 0, 0) != BZ_OK)
            throw std::bad_alloc();
    }
    static const char* reason() { return "damaged"; }
};

template <class Codec>
class DecoderOfFile final : public Decompressor {
  public:
    explicit DecoderOfFile(const SourceFile& file) : file_(file), stored_(compressed_piece) {}

    Bytes read(std::span<std::byte> to) override {
        auto& state = decoder_.state;
        std::size_t done = 0;
        while (done < to.size() && !ended_) {
            if (state.avail_in == 0 && !fetch())
                break;
            constexpr std::size_t most = std::size_t{1} << 30;
            const auto room = static_cast<unsigned>(std::min(to.size() - done, most));
            state.next_out = reinterpret_cast<decltype(state.next_out)>(to.data() + done);
            state.avail_out = room;
            const Decoded decoded = decoder_.decode();
            done += room - state.avail_out;
            if (decoded == Decoded::all) {
                ended_ = !Codec::begins(file_, position_ - state.avail_in);
                if (!ended_)
                    decoder_.restart();
            } else if (decoded == Decoded::nothing) {
                ended_ = true;
                throw InvalidFile(file_.path(),
                                  fmt::format("cannot be decompressed: {}", decoder_.reason()));
            }
        }
        return static_cast<Bytes>(done);
    }

  private:
    /// Reads the next compressed bytes. Returns false at the end of the file.
    bool fetch() {
        const Bytes got = file_.read_at(position_, stored_);
        position_ += got;
        decoder_.state.next_in = reinterpret_cast<decltype(decoder_.state.next_in)>(stored_.data());
        decoder_.state.avail_in = static_cast<unsigned>(got);
        return got > 0;
    }

    const SourceFile& file_;
    Bytes position_ = 0;
    std::vector<std::byte> stored_;
    Codec decoder_;
};

/// Creates a scratch file for the decompressed bytes of a file.
ScratchFile spool_scratch(const std::string& path) {
    try {
        return ScratchFile(path);
    } catch (const InvalidFile&) { // the folder is not writable
        namespace fs = std::filesystem;
        std::error_code unknown;
        const fs::path folder = fs::temp_directory_path(unknown);
        return ScratchFile(((unknown ? fs::path("/tmp") : folder) / fs::path(path).filename()));
    }
}

} // namespace

bool is_gzip(const SourceFile& file) {
    return GzipDecoder::begins(file, 0);
}

std::unique_ptr<Decompressor> open_decompressor(const SourceFile& file) {
    if (is_gzip(file))
        return std::make_unique<DecoderOfFile<GzipDecoder>>(file);
    if (Bzip2Decoder::begins(file, 0))
        return std::make_unique<DecoderOfFile<Bzip2Decoder>>(file);
    return nullptr;
}

void check_compressed_start(const std::string& path) {
    const SourceFile file(path);
    std::vector<std::byte> start(std::size_t{1} << 20); // larger than a bzip2 block
    if (const auto decompressor = open_decompressor(file))
        decompressor->read(start);
}

void check_decompressed(const SourceFile& file, Bytes size) {
    constexpr Bytes believable_bytes = Bytes{1} << 26;
    if (size > believable_bytes)
        check_plausible(file.path(), size, file.size(), deflate_ratio);
}

Spool::Spool(SourceFile file, Bytes size, const ScratchPlace& copy)
    : file_(std::make_unique<SourceFile>(std::move(file))),
      size_(size),
      reader_(open_decompressor(*file_)),
      scratch_(ScratchFile::open(path(), copy)),
      is_own_(!scratch_) {
    if (scratch_)
        spooled_ = copy.bytes;
}

ScratchPlace Spool::share(Bytes end) {
    spool(end);
    return scratch_->place(spooled_);
}

void Spool::read(Bytes position, std::span<std::byte> to) {
    const Bytes end = position + static_cast<Bytes>(to.size());
    if (position < 0 || end > size_)
        throw std::logic_error("read beyond the end of the decompressed file");
    spool(end);
    scratch_->read(position, to);
}

/// Decompresses until `end` bytes are in the scratch file.
void Spool::spool(Bytes end) {
    if (!is_own_ && end > spooled_) {
        is_own_ = true;
        spooled_ = 0;
        scratch_.reset();
    }
    if (!scratch_)
        scratch_.emplace(spool_scratch(path()));
    buffer_.resize(compressed_piece);
    while (spooled_ < end) {
        if (damage_)
            std::rethrow_exception(damage_); // the decompressor cannot go back
        try {
            spooled_ += spool_piece();
        } catch (const InvalidFile&) {
            damage_ = std::current_exception();
        }
    }
}

/// Decompresses the next piece, and returns its length in bytes.
Bytes Spool::spool_piece() {
    const Bytes wanted = std::min(std::ssize(buffer_), size_ - spooled_);
    const auto piece = std::span(buffer_).first(static_cast<std::size_t>(wanted));
    const Bytes got = reader_->read(piece);
    scratch_->write(spooled_, piece.first(static_cast<std::size_t>(got)));
    if (spooled_ + got == size_)
        check_end();
    if (got == 0)
        throw InvalidFile(path(), fmt::format("truncated: its compressed data end after {} of {} "
                                              "bytes",
                                              spooled_, size_));
    return got;
}

/// Reads up to the checksum at the end. Further bytes may precede the checksum, because damaged
/// data often decompress to another length.
void Spool::check_end() {
    constexpr Bytes most = Bytes{1} << 20;
    Bytes got = 1;
    for (Bytes beyond = 0; got > 0 && beyond < most; beyond += got)
        got = reader_->read(buffer_);
    if (got == 0 && !reader_->ended())
        throw InvalidFile(path(), "truncated: the checksum at its end is missing");
}

namespace {

class GzipSink : public FrameFile {
  public:
    GzipSink(const std::string& path, const FrameHeader& header, std::span<const std::byte> start)
        : FrameFile(path, header), file_(path), stored_(compressed_piece) {
        if (deflateInit2(&stream_, 1, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
            throw std::bad_alloc();
        write_deflated(start, Z_NO_FLUSH);
    }
    ~GzipSink() { deflateEnd(&stream_); }

    void append(std::int64_t, Rows, std::span<const std::byte> samples) {
        write_deflated(samples, Z_NO_FLUSH);
    }
    void finish() {
        write_deflated({}, Z_FINISH);
        file_.commit();
    }

  private:
    void write_deflated(std::span<const std::byte> bytes, int flush) {
        do {
            constexpr std::size_t most = std::size_t{1} << 30;
            const auto piece = bytes.first(std::min(bytes.size(), most));
            bytes = bytes.subspan(piece.size());
            // zlib does not write to its input, despite the missing const.
            stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(piece.data()));
            stream_.avail_in = static_cast<uInt>(piece.size());
            do {
                stream_.next_out = reinterpret_cast<Bytef*>(stored_.data());
                stream_.avail_out = static_cast<uInt>(stored_.size());
                deflate(&stream_, flush);
                file_.write(
                    std::span<const std::byte>(stored_).first(stored_.size() - stream_.avail_out));
            } while (stream_.avail_out == 0);
        } while (!bytes.empty());
    }

    AtomicFile file_;
    std::vector<std::byte> stored_;
    z_stream stream_{};
};

} // namespace

std::unique_ptr<FrameSource> spooled_frames(FrameHeader header, Spool opened, StoredLayout layout) {
    const auto spool = std::make_shared<Spool>(std::move(opened));
    const Bytes end = end_of_frame(header, layout, header.frames - 1);
    return stored_frames(
        StoredBytes{spool->path(),
                    [spool](Bytes position, std::span<std::byte> to) { spool->read(position, to); },
                    [spool, end] { return spool->share(end); }},
        std::move(header), std::move(layout));
}

std::unique_ptr<FrameSink> gzip_sink(const std::string& path, const FrameHeader& header,
                                     std::span<const std::byte> start) {
    return sink_of(std::make_unique<GzipSink>(path, header, start));
}

} // namespace sextant::format
