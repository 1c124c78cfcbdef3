// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/gzip.hpp"

#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/format/bzip2.hpp"
#include "sextant/format/checks.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

namespace sextant::format {

namespace {

constexpr int gzip_window = 15 + 16; // the largest window, and headers of gzip
constexpr std::size_t gzip_piece = std::size_t{1} << 17;

constexpr std::size_t gzip_signature_bytes = 3; // the last one is deflate, the only method

bool is_gzip_signature(std::span<const std::byte> bytes) {
    return bytes.size() >= gzip_signature_bytes && bytes[0] == std::byte{0x1f} &&
           bytes[1] == std::byte{0x8b} && bytes[2] == std::byte{8};
}

/// A scratch file for the decompressed bytes of a file.
ScratchFile spool_scratch(const std::string& path) {
    try {
        return ScratchFile(path);
    } catch (const InvalidFile&) { // a folder that is not writable
        namespace fs = std::filesystem;
        std::error_code unknown;
        const fs::path folder = fs::temp_directory_path(unknown);
        return ScratchFile(((unknown ? fs::path("/tmp") : folder) / fs::path(path).filename()));
    }
}

} // namespace

bool is_gzip(const SourceFile& file) {
    std::array<std::byte, gzip_signature_bytes> signature{};
    return file.read_at(0, signature) == std::ssize(signature) && is_gzip_signature(signature);
}

std::unique_ptr<Decompressor> open_decompressor(const SourceFile& file) {
    if (is_gzip(file))
        return std::make_unique<GzipReader>(file);
    if (is_bzip2(file))
        return std::make_unique<Bzip2Reader>(file);
    return nullptr;
}

void check_compressed_start(const std::string& path) {
    const SourceFile file(path);
    std::vector<std::byte> start(std::size_t{1} << 20); // more than a block of bzip2
    if (const auto decompressor = open_decompressor(file))
        decompressor->read(start);
}

void check_decompressed(const SourceFile& file, Bytes size) {
    constexpr Bytes believable_bytes = Bytes{1} << 26;
    if (size > believable_bytes)
        check_plausible(file.path(), size, file.size(), deflate_ratio);
}

void GzipReader::End::operator()(z_stream_s* stream) const {
    inflateEnd(stream);
    delete stream;
}

GzipReader::GzipReader(const SourceFile& file) : file_(&file), stored_(gzip_piece) {
    auto stream = std::make_unique<z_stream>();
    if (inflateInit2(stream.get(), gzip_window) != Z_OK)
        throw std::bad_alloc();
    stream_.reset(stream.release());
}

/// Reads the next compressed bytes. Returns false at the end of the file.
bool GzipReader::fetch() {
    const Bytes got = file_->read_at(position_, stored_);
    position_ += got;
    stream_->next_in = reinterpret_cast<Bytef*>(stored_.data());
    stream_->avail_in = static_cast<uInt>(got);
    return got > 0;
}

Bytes GzipReader::read(std::span<std::byte> to) {
    std::size_t done = 0;
    while (done < to.size() && !ended_) {
        if (stream_->avail_in == 0 && !fetch())
            break;
        constexpr std::size_t most = std::size_t{1} << 30;
        const auto room = static_cast<uInt>(std::min(to.size() - done, most));
        stream_->next_out = reinterpret_cast<Bytef*>(to.data() + done);
        stream_->avail_out = room;
        const int status = inflate(stream_.get(), Z_NO_FLUSH);
        done += room - stream_->avail_out;
        if (status == Z_STREAM_END) {
            std::array<std::byte, gzip_signature_bytes> next{};
            const Bytes at = position_ - stream_->avail_in;
            ended_ = file_->read_at(at, next) < std::ssize(next) || !is_gzip_signature(next);
            if (!ended_)
                inflateReset(stream_.get());
        } else if (status != Z_OK && status != Z_BUF_ERROR) {
            ended_ = true;
            throw InvalidFile(file_->path(),
                              fmt::format("cannot be decompressed: {}",
                                          stream_->msg != nullptr ? stream_->msg : "damaged"));
        }
    }
    return static_cast<Bytes>(done);
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
    buffer_.resize(gzip_piece);
    while (spooled_ < end) {
        if (damage_)
            std::rethrow_exception(damage_); // the reader cannot go back
        try {
            spooled_ += spool_piece();
        } catch (const InvalidFile&) {
            damage_ = std::current_exception();
        }
    }
}

/// Decompresses the next piece, and returns its length.
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

/// Reads the checksum, which may follow some further bytes: damaged data often have another length.
void Spool::check_end() {
    constexpr Bytes most = Bytes{1} << 20;
    Bytes got = 1;
    for (Bytes beyond = 0; got > 0 && beyond < most; beyond += got)
        got = reader_->read(buffer_);
    if (got == 0 && !reader_->ended())
        throw InvalidFile(path(), "truncated: the checksum at its end is missing");
}

namespace {

class SpooledFrames : public FrameFile {
  public:
    SpooledFrames(FrameHeader header, Spool spool, StoredLayout layout)
        : FrameFile(spool.path(), std::move(header)),
          spool_(std::move(spool)),
          layout_(std::move(layout)) {}

    ScratchPlace share() {
        return spool_.share(layout_.start(header().frames - 1, header().sample) +
                            header().shape.height * row_bytes());
    }

    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) {
        spool_.read(layout_.start(frame, header().sample) + rows.first * row_bytes(), to);
        if (layout_.swapped)
            swap_bytes(header().sample, to);
    }

  private:
    Spool spool_;
    StoredLayout layout_;
};

class GzipSink : public FrameFile {
  public:
    GzipSink(const std::string& path, const FrameHeader& header, std::span<const std::byte> start)
        : FrameFile(path, header), file_(path), stored_(gzip_piece) {
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
            // zlib does not write to its input.
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

std::unique_ptr<FrameSource> spooled_frames(FrameHeader header, Spool spool, StoredLayout layout) {
    return frames_of(
        std::make_unique<SpooledFrames>(std::move(header), std::move(spool), std::move(layout)));
}

std::unique_ptr<FrameSink> gzip_sink(const std::string& path, const FrameHeader& header,
                                     std::span<const std::byte> start) {
    return sink_of(std::make_unique<GzipSink>(path, header, start));
}

} // namespace sextant::format
