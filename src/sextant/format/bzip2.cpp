// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/bzip2.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <array>
#include <new>

#include <bzlib.h>

namespace sextant::format {

namespace {

constexpr std::size_t bzip2_piece = std::size_t{1} << 17;

/// True if a stream of bzip2 begins at this position: "BZh" and the size of its blocks.
bool starts_bzip2(const SourceFile& file, Bytes position) {
    std::array<char, 4> start{};
    return file.read_at(position, std::as_writable_bytes(std::span(start))) == std::ssize(start) &&
           start[0] == 'B' && start[1] == 'Z' && start[2] == 'h' && start[3] >= '1' &&
           start[3] <= '9';
}

} // namespace

/// A decompressor of libbz2, which may be started again.
struct Bzip2Reader::Stream {
    bz_stream state{};

    Stream() { begin(); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream() { BZ2_bzDecompressEnd(&state); }

    void begin() {
        if (BZ2_bzDecompressInit(&state, 0, 0) != BZ_OK)
            throw std::bad_alloc();
    }
};

bool is_bzip2(const SourceFile& file) {
    return starts_bzip2(file, 0);
}

Bzip2Reader::Bzip2Reader(const SourceFile& file)
    : file_(&file), stored_(bzip2_piece), stream_(std::make_unique<Stream>()) {}

Bzip2Reader::~Bzip2Reader() = default;

/// Reads the next compressed bytes. Returns false at the end of the file.
bool Bzip2Reader::fetch() {
    const Bytes got = file_->read_at(position_, stored_);
    position_ += got;
    stream_->state.next_in = reinterpret_cast<char*>(stored_.data());
    stream_->state.avail_in = static_cast<unsigned>(got);
    return got > 0;
}

Bytes Bzip2Reader::read(std::span<std::byte> to) {
    std::size_t done = 0;
    while (done < to.size() && !ended_) {
        bz_stream& state = stream_->state;
        if (state.avail_in == 0 && !fetch())
            break;
        constexpr std::size_t most = std::size_t{1} << 30;
        const auto room = static_cast<unsigned>(std::min(to.size() - done, most));
        state.next_out = reinterpret_cast<char*>(to.data() + done);
        state.avail_out = room;
        const int status = BZ2_bzDecompress(&state);
        done += room - state.avail_out;
        if (status == BZ_STREAM_END) {
            position_ -= state.avail_in;
            ended_ = !starts_bzip2(*file_, position_);
            BZ2_bzDecompressEnd(&state);
            state = {};
            stream_->begin();
        } else if (status != BZ_OK) {
            ended_ = true;
            throw InvalidFile(file_->path(), "cannot be decompressed: damaged");
        }
    }
    return static_cast<Bytes>(done);
}

} // namespace sextant::format
