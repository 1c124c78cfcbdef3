// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/label/planes.hpp"

#include "sextant/core/cancellation.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/invalid_data.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <fmt/format.h>

namespace sextant::label {

namespace {

Sample kept_as(Sample stored, VolumePlanes::Use use) {
    if (stored == Sample::f16)
        return Sample::f32;
    const bool compares = use == VolumePlanes::Use::comparison;
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

/// Sets NaN to 0; returns their number.
template <class Real>
Elements clear_nan(Real* values, Elements count) {
    Elements found = 0;
    for (Elements i = 0; i < count; ++i) {
        found += std::isnan(values[i]) ? 1 : 0;
        values[i] = std::isnan(values[i]) ? 0 : values[i];
    }
    return found;
}

void add_offset(std::uint64_t* values, Elements count, std::uint64_t offset) {
    for (Elements i = 0; i < count; ++i)
        values[i] += offset; // modulo 2⁶⁴
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

VolumePlanes::VolumePlanes(FrameSource& source, Use use)
    : source_(source),
      use_(use),
      shape_{source.header().frames, source.header().shape.height, source.header().shape.width},
      stored_(source.header().sample),
      kept_(kept_as(stored_, use)) {
    if (shape_.depth <= 0 || shape_.height <= 0 || shape_.width <= 0)
        throw InvalidData(fmt::format("{}: a volume of {}x{}x{} voxels, expected positive numbers",
                                      source.path(), shape_.depth, shape_.height, shape_.width));
    if (source.header().channels != 1)
        throw InvalidData(fmt::format("{}: {} samples per voxel, expected one", source.path(),
                                      source.header().channels));
}

Bytes VolumePlanes::bytes_per_voxel() const {
    return size_of(kept_);
}

Elements VolumePlanes::read(Elements first, Elements count) {
    const Elements plane = shape_.height * shape_.width;
    const Bytes size = size_of(kept_);
    if (planes_.size() < count * plane * size)
        planes_ = Memory(count * plane * size);
    const bool as_stored = size == size_of(stored_) && stored_ != Sample::f16 &&
                           (use_ == Use::comparison || kept_ == stored_ || offset() > 0);
    Elements nan = 0;
    for (Elements z = 0; z < count; ++z) {
        std::byte* const to = planes_.data() + z * plane * size;
        const Rows rows{0, shape_.height};
        check_cancelled(plane);
        const auto bytes = static_cast<std::size_t>(plane * size);
        if (as_stored) {
            source_.read_samples(first + z, rows, {to, bytes});
            if (offset() > 0)
                add_offset(reinterpret_cast<std::uint64_t*>(to), plane, offset());
        } else if (kept_ == Sample::f32) {
            source_.read_rows(first + z, rows,
                              {reinterpret_cast<float*>(to), static_cast<std::size_t>(plane)});
        } else {
            plane_.resize(static_cast<std::size_t>(plane * size_of(stored_)));
            source_.read_samples(first + z, rows, plane_);
            widen(stored_, plane_, reinterpret_cast<double*>(to));
        }
        if (use_ == Use::comparison && kept_ == Sample::f32)
            nan += clear_nan(reinterpret_cast<float*>(to), plane);
        if (use_ == Use::comparison && kept_ == Sample::f64)
            nan += clear_nan(reinterpret_cast<double*>(to), plane);
    }
    return nan;
}

kernel::ValueView VolumePlanes::view(Elements first, Elements count) const {
    const Elements plane = shape_.height * shape_.width;
    const std::byte* const data = planes_.data() + first * plane * size_of(kept_);
    kernel::ValueView view;
    switch (kept_) {
    case Sample::u8:
        view.first = reinterpret_cast<const std::uint8_t*>(data);
        break;
    case Sample::u16:
        view.first = reinterpret_cast<const std::uint16_t*>(data);
        break;
    case Sample::u32:
        view.first = reinterpret_cast<const std::uint32_t*>(data);
        break;
    case Sample::u64:
        view.first = reinterpret_cast<const std::uint64_t*>(data);
        break;
    case Sample::f64:
        view.first = reinterpret_cast<const double*>(data);
        break;
    default:
        view.first = reinterpret_cast<const float*>(data);
    }
    view.stride = shape_.width;
    view.tile = {0, 0, shape_.width, shape_.height};
    view.image = {shape_.width, shape_.height};
    view.planes = count;
    view.next_plane = plane;
    return view;
}

std::span<std::uint8_t> BitPlanes::room(Elements planes) {
    const Bytes size = planes * shape_.height * shape_.width;
    if (planes_.size() < size)
        planes_ = Memory(size);
    return {reinterpret_cast<std::uint8_t*>(planes_.data()), static_cast<std::size_t>(size)};
}

kernel::ValueView BitPlanes::view(Elements first, Elements count) const {
    const Elements plane = shape_.height * shape_.width;
    kernel::ValueView view(reinterpret_cast<const std::uint8_t*>(planes_.data()) + first * plane,
                           shape_.width, {0, 0, shape_.width, shape_.height},
                           {shape_.width, shape_.height});
    view.planes = count;
    view.next_plane = plane;
    return view;
}

Elements BackgroundPlanes::read(Elements first, Elements count) {
    const Elements nan = planes_.read(first, count);
    const std::span<std::uint8_t> to = room(count);
    std::visit(
        [&](const auto* samples) {
            for (std::size_t i = 0; i < to.size(); ++i)
                to[i] = samples[i] == 0 ? 1 : 0;
        },
        planes_.view(0, count).first);
    return nan;
}

} // namespace sextant::label
