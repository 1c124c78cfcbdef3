// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/label/planes.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/tiles/tiled_image.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <fmt/format.h>

namespace sextant::label {

namespace {

Sample kept_as(Sample stored, FramePlanes::Use use) {
    if (stored == Sample::f16)
        return Sample::f32;
    const bool compares = use == FramePlanes::Use::comparison;
    switch (stored) {
    case Sample::i8:
        return compares ? Sample::u8 : Sample::f32;
    case Sample::i16:
        return compares ? Sample::u16 : Sample::f32;
    case Sample::i32:
        return compares ? Sample::u32 : Sample::f64;
    case Sample::i64:
        return Sample::u64;
    default:
        return stored;
    }
}

void add_offset(std::uint64_t* values, Elements count, std::uint64_t offset) {
    for (Elements i = 0; i < count; ++i)
        values[i] += offset; // modulo 2⁶⁴
}

/// The number of rows to read between two checks for cancellation.
Elements rows_at_once(Elements width) {
    constexpr Elements samples = Elements{1} << 20;
    return std::max<Elements>(1, samples / width);
}

/// A view of successive planes without gaps.
kernel::ValueView view_of(kernel::ValueView::First first, const kernel::VolumeShape& shape,
                          Elements planes) {
    kernel::ValueView view(first, shape.width, {0, 0, shape.width, shape.height},
                           {shape.width, shape.height});
    view.planes = planes;
    view.next_plane = shape.height * shape.width;
    return view;
}

void widen(Sample stored, std::span<const std::byte> from, double* to) {
    visit_sample(stored, [&](auto type) {
        using Stored = typename decltype(type)::type;
        if constexpr (std::is_integral_v<Stored>) {
            for (std::size_t i = 0; i < from.size() / sizeof(Stored); ++i) {
                Stored value;
                std::memcpy(&value, from.data() + i * sizeof(Stored), sizeof(Stored));
                to[i] = static_cast<double>(value);
            }
        }
    });
}

} // namespace

FramePlanes::FramePlanes(FrameSource& source, Use use, std::optional<std::int64_t> frame)
    : source_(source),
      use_(use),
      frame_(frame),
      shape_{source.header().frames, source.header().shape.height, source.header().shape.width},
      stored_(source.header().sample),
      kept_(kept_as(stored_, use)) {
    if (frame)
        shape_ = {shape_.height, 1, shape_.width, true};
    if (shape_.depth <= 0 || shape_.height <= 0 || shape_.width <= 0)
        throw InvalidData(
            frame ? fmt::format("{}: {}x{} pixels, expected positive numbers", source.path(),
                                shape_.width, shape_.depth)
                  : fmt::format("{}: a volume of {}x{}x{} voxels, expected positive numbers",
                                source.path(), shape_.depth, shape_.height, shape_.width));
    if (source.header().channels != 1)
        throw InvalidData(fmt::format("{}: {} samples per {}, expected one", source.path(),
                                      source.header().channels, frame ? "pixel" : "voxel"));
}

Bytes FramePlanes::bytes_per_voxel() const {
    return size_of(kept_);
}

void FramePlanes::read_rows(std::int64_t frame, const Rows& rows, std::byte* to) {
    const Elements samples = rows.count() * shape_.width;
    const auto bytes = static_cast<std::size_t>(samples * size_of(kept_));
    const bool as_stored = size_of(kept_) == size_of(stored_) && stored_ != Sample::f16 &&
                           (use_ == Use::comparison || kept_ == stored_ || offset() > 0);
    check_cancelled(samples);
    if (as_stored) {
        source_.read_samples(frame, rows, {to, bytes});
        if (offset() > 0)
            add_offset(reinterpret_cast<std::uint64_t*>(to), samples, offset());
    } else if (kept_ == Sample::f32) {
        source_.read_rows(frame, rows,
                          {reinterpret_cast<float*>(to), static_cast<std::size_t>(samples)});
    } else {
        plane_.resize(static_cast<std::size_t>(samples * size_of(stored_)));
        source_.read_samples(frame, rows, plane_);
        widen(stored_, plane_, reinterpret_cast<double*>(to));
    }
}

Elements FramePlanes::read(Elements first, Elements count) {
    const Bytes plane = shape_.height * shape_.width * size_of(kept_);
    if (planes_.size() < count * plane)
        planes_ = Memory(count * plane);
    const Elements rows = frame_ ? rows_at_once(shape_.width) : 1;
    for (Elements z = 0; z < count; z += rows) {
        std::byte* const to = planes_.data() + z * plane;
        if (frame_)
            read_rows(*frame_, {first + z, first + std::min(count, z + rows)}, to);
        else
            read_rows(first + z, {0, shape_.height}, to);
    }
    return 0;
}

kernel::ValueView FramePlanes::view(Elements first, Elements count) const {
    const std::byte* const data =
        planes_.data() + first * shape_.height * shape_.width * size_of(kept_);
    switch (kept_) {
    case Sample::u8:
        return view_of(reinterpret_cast<const std::uint8_t*>(data), shape_, count);
    case Sample::u16:
        return view_of(reinterpret_cast<const std::uint16_t*>(data), shape_, count);
    case Sample::u32:
        return view_of(reinterpret_cast<const std::uint32_t*>(data), shape_, count);
    case Sample::u64:
        return view_of(reinterpret_cast<const std::uint64_t*>(data), shape_, count);
    case Sample::f64:
        return view_of(reinterpret_cast<const double*>(data), shape_, count);
    default:
        return view_of(reinterpret_cast<const float*>(data), shape_, count);
    }
}

ImageRows::ImageRows(RowSource& source, bool by_value)
    : source_(source), shape_{source.shape().height, 1, source.shape().width, true} {
    const FrameHeader& header = source.header();
    if (header.shape.elements() == 0)
        throw InvalidData(fmt::format("{}: {}x{} pixels, expected positive numbers", source.path(),
                                      header.shape.width, header.shape.height));
    if (by_value && header.channels >= 3 && size_of(header.sample) > 2)
        throw InvalidTask(fmt::format(
            "by_value: {} has colours of {}, expected 8 or 16 bits per channel, or one channel",
            source.path(), name(header.sample)));
}

Elements ImageRows::read(Elements first, Elements count) {
    const Bytes row = shape_.width * bytes_per_voxel();
    if (rows_.size() < count * row)
        rows_ = Memory(count * row);
    const Elements at_once = rows_at_once(shape_.width);
    for (Elements y = 0; y < count; y += at_once) {
        const Elements rows = std::min(at_once, count - y);
        check_cancelled(rows * shape_.width);
        source_.read(first + y, rows,
                     {rows_.data() + y * row, static_cast<std::size_t>(rows * row)});
    }
    return 0;
}

kernel::ValueView ImageRows::view(Elements first, Elements count) const {
    return view_of(distributed::values_of(source_.element(),
                                          rows_.data() + first * shape_.width * bytes_per_voxel())
                       .first,
                   shape_, count);
}

ArrayPlanes::ArrayPlanes(const kernel::ValueView& array, bool is_image) : array_(array) {
    shape_ = {array.planes, array.image.height, array.image.width};
    if (is_image) {
        shape_ = {shape_.height, 1, shape_.width, true};
        array_.next_plane = array.stride;
        array_.tile = {0, 0, shape_.width, 1};
        array_.image = {shape_.width, 1};
    }
    if (shape_.elements() == 0)
        throw InvalidData(fmt::format("an array of {}x{}x{} samples, expected positive numbers",
                                      shape_.depth, shape_.height, shape_.width));
}

Bytes ArrayPlanes::bytes_per_voxel() const {
    return std::visit([](const auto* samples) { return static_cast<Bytes>(sizeof(*samples)); },
                      array_.first);
}

kernel::ValueView ArrayPlanes::view(Elements first, Elements count) const {
    kernel::ValueView view = array_;
    const Elements before = (first_ + first) * array_.next_plane;
    std::visit([&](auto& samples) { samples += before; }, view.first);
    view.planes = count;
    return view;
}

std::span<std::uint8_t> BitPlanes::room(Elements planes) {
    const Bytes size = planes * shape_.height * shape_.width;
    if (planes_.size() < size)
        planes_ = Memory(size);
    return {reinterpret_cast<std::uint8_t*>(planes_.data()), static_cast<std::size_t>(size)};
}

kernel::ValueView BitPlanes::view(Elements first, Elements count) const {
    return view_of(reinterpret_cast<const std::uint8_t*>(planes_.data()) +
                       first * shape_.height * shape_.width,
                   shape_, count);
}

Elements BackgroundPlanes::read(Elements first, Elements count) {
    Elements nan = planes_.read(first, count);
    const std::span<std::uint8_t> to = room(count);
    const kernel::ValueView view = planes_.view(0, count);
    std::visit(
        [&](const auto* samples) {
            std::size_t i = 0;
            for (Elements row = 0; row < count * shape().height; ++row) {
                const auto* const from = samples + row / shape().height * view.next_plane +
                                         row % shape().height * view.stride;
                check_cancelled(shape().width);
                for (Elements x = 0; x < shape().width; ++x) {
                    const bool is_nan = from[x] != from[x];
                    nan += is_nan ? 1 : 0;
                    to[i++] = from[x] == 0 || is_nan ? 1 : 0;
                }
            }
        },
        view.first);
    return nan;
}

} // namespace sextant::label
