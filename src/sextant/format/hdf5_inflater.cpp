// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/hdf5_inflater.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace sextant::format {

void Hdf5Inflater::End::operator()(z_stream* stream) const {
    inflateEnd(stream);
    delete stream;
}

Hdf5Inflater::Hdf5Inflater(std::vector<std::byte> stored, Elements samples, Bytes size,
                           bool shuffled, Pace pace)
    : stored_(std::move(stored)),
      samples_(samples),
      size_(static_cast<std::size_t>(size)),
      pace_(std::move(pace)),
      decoders_(shuffled ? size_ : 1) {
    for (Decoder& decoder : decoders_) {
        auto stream = std::make_unique<z_stream>();
        *stream = {};
        if (inflateInit(stream.get()) != Z_OK)
            throw std::bad_alloc();
        decoder.stream.reset(stream.release());
        restart(decoder);
    }
}

void Hdf5Inflater::restart(Decoder& decoder) {
    inflateReset(decoder.stream.get());
    decoder.stream->next_in = reinterpret_cast<Bytef*>(stored_.data());
    decoder.stream->avail_in = static_cast<uInt>(stored_.size());
    decoder.position = 0;
}

void Hdf5Inflater::inflate(Decoder& decoder, std::span<std::byte> to) {
    z_stream& stream = *decoder.stream;
    while (!to.empty()) {
        constexpr std::size_t at_once = std::size_t{1} << 24;
        const std::size_t wanted = std::min(to.size(), at_once);
        stream.next_out = reinterpret_cast<Bytef*>(to.data());
        stream.avail_out = static_cast<uInt>(wanted);
        const int result = ::inflate(&stream, Z_NO_FLUSH);
        const std::size_t came = wanted - stream.avail_out;
        if (came == 0 || (result != Z_OK && result != Z_STREAM_END))
            throw Error("inflate() failed");
        decoder.position += static_cast<Bytes>(came);
        to = to.subspan(came);
        since_ += static_cast<Bytes>(came);
        constexpr Bytes between = Bytes{1} << 26;
        if (since_ > between) {
            pace_(between);
            since_ = 0;
        }
    }
}

void Hdf5Inflater::go_to(Decoder& decoder, Bytes position) {
    if (position < decoder.position)
        restart(decoder);
    constexpr Bytes at_once = Bytes{1} << 18;
    passed_.resize(static_cast<std::size_t>(at_once));
    while (decoder.position < position) {
        const Bytes left = std::min(at_once, position - decoder.position);
        inflate(decoder, std::span(passed_).first(static_cast<std::size_t>(left)));
    }
}

void Hdf5Inflater::read(Elements first, std::span<std::byte> to) {
    if (decoders_.size() == 1) {
        go_to(decoders_.front(), first * static_cast<Bytes>(size_));
        inflate(decoders_.front(), to);
        return;
    }
    bytes_.resize(to.size() / size_);
    for (std::size_t byte = 0; byte < size_; ++byte) {
        go_to(decoders_[byte], static_cast<Bytes>(byte) * samples_ + first);
        inflate(decoders_[byte], bytes_);
        for (std::size_t i = 0; i < bytes_.size(); ++i)
            to[i * size_ + byte] = bytes_[i];
    }
}

} // namespace sextant::format
