// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/array/row_source.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace sextant {

namespace {

/// The number of channels, not counting alpha.
int channels_compared(const FrameHeader& header) {
    return header.channels < 3 ? 1 : 3;
}

/// True if the compared channels of a pixel fit in one number of at most 64 bits.
bool has_value(const FrameHeader& header) {
    const bool integers = header.sample != Sample::f16 && header.sample != Sample::f32 &&
                          header.sample != Sample::f64;
    return channels_compared(header) == 1 ? header.sample != Sample::f16
                                          : integers && size_of(header.sample) <= 2;
}

ElementFormat element_of(const FrameHeader& header, ReadAs read_as) {
    if (read_as == ReadAs::values && has_value(header)) {
        if (header.sample == Sample::f32)
            return gray_f32;
        if (header.sample == Sample::f64)
            return value_f64;
        const Bytes size = channels_compared(header) * size_of(header.sample);
        return size == 1 ? gray_u8 : size == 2 ? gray_u16 : size <= 4 ? value_u32 : value_u64;
    }
    const bool gray = header.channels == 1;
    return gray && header.sample == Sample::u8    ? gray_u8
           : gray && header.sample == Sample::u16 ? gray_u16
                                                  : gray_f32;
}

/// True if stored rows already have the format of the values to read.
bool is_stored_so(const FrameHeader& header, ReadAs read_as) {
    if (header.channels != 1)
        return false;
    return read_as == ReadAs::values
               ? has_value(header)
               : header.sample == Sample::u8 || header.sample == Sample::u16 ||
                     header.sample == Sample::f32;
}

} // namespace

RowSource::RowSource(std::unique_ptr<FrameSource> frames, std::int64_t frame, ReadAs read_as)
    : frames_(std::move(frames)),
      frame_(frame),
      element_(element_of(header(), read_as)),
      how_(is_stored_so(header(), read_as)                    ? How::as_stored
           : read_as == ReadAs::values && has_value(header()) ? How::packed
                                                              : How::as_floats) {
    if (frame < 0 || frame >= header().frames)
        throw InvalidData(fmt::format("frame {} of {} does not exist: the series has {} frames",
                                      frame, path(), header().frames));
    if (how_ == How::packed || read_as == ReadAs::values)
        return;
    frames_ = read_as == ReadAs::scaled
                  ? scaled(std::move(frames_), frame)
                  : strict(less_offset(std::move(frames_), frame, OffsetFor::computation));
    set_offset();
}

RowSource::RowSource(std::unique_ptr<FrameSource> frames, ReadAs read_as)
    : frames_(std::move(frames)),
      frame_(0),
      planes_(header().frames),
      element_(element_of(header(), ReadAs::floats)),
      how_(is_stored_so(header(), ReadAs::floats) ? How::as_stored : How::as_floats) {
    frames_ = read_as == ReadAs::scaled
                  ? scaled_volume(std::move(frames_))
                  : strict(less_offset_of_volume(std::move(frames_), OffsetFor::computation));
    set_offset();
}

void RowSource::set_offset() {
    scaled_ = dynamic_cast<const ScaledFrames*>(frames_.get());
    if (!scaled_)
        return;
    element_ = gray_f32;
    how_ = How::as_floats;
}

std::map<std::int64_t, Elements> RowSource::vanished() const {
    return scaled_ ? scaled_->vanished() : std::map<std::int64_t, Elements>();
}

void RowSource::read(Elements first, Elements rows, std::span<std::byte> to, Elements plane) {
    const Rows some{first, first + rows};
    if (how_ == How::as_stored)
        return frames_->read_samples(frame_ + plane, some, to);
    if (how_ == How::packed)
        return read_packed(frame_ + plane, some, to);
    frames_->read_rows(frame_ + plane, some,
                       {reinterpret_cast<float*>(to.data()), to.size() / sizeof(float)});
}

/// Packs the channels of each pixel into one number. Unused bytes of the number are 0.
void RowSource::read_packed(std::int64_t frame, Rows rows, std::span<std::byte> to) {
    constexpr Bytes at_once = Bytes{1} << 18;
    const Bytes sample = size_of(header().sample), pixel = header().channels * sample;
    const auto used = static_cast<std::size_t>(channels_compared(header()) * sample);
    const Bytes row = shape().width * pixel;
    const std::int64_t step = std::max<std::int64_t>(1, at_once / row);
    std::byte* next = to.data();
    std::fill(to.begin(), to.end(), std::byte{0});
    for (std::int64_t first = rows.first; first < rows.last; first += step) {
        const Rows some{first, std::min(first + step, rows.last)};
        stored_.resize(static_cast<std::size_t>(some.count() * row));
        frames_->read_samples(frame, some, stored_);
        for (Bytes at = 0; at < some.count() * row; at += pixel, next += element_.size)
            std::memcpy(next, stored_.data() + at, used);
    }
}

} // namespace sextant
