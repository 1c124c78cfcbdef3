// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/array/sample.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

namespace sextant {

namespace {

struct NamedSample {
    std::string_view name;
    Sample sample;
};

constexpr std::array named{
    NamedSample{"u8", Sample::u8},   NamedSample{"i8", Sample::i8},
    NamedSample{"u16", Sample::u16}, NamedSample{"i16", Sample::i16},
    NamedSample{"u32", Sample::u32}, NamedSample{"i32", Sample::i32},
    NamedSample{"u64", Sample::u64}, NamedSample{"i64", Sample::i64},
    NamedSample{"f16", Sample::f16}, NamedSample{"f32", Sample::f32},
    NamedSample{"f64", Sample::f64},
};

void check_count(Sample sample, std::size_t bytes, std::size_t floats) {
    if (bytes != floats * static_cast<std::size_t>(size_of(sample)))
        throw std::logic_error("the size of the float buffer does not match the number of samples");
}

template <class T>
float widened(T value) {
    if constexpr (std::is_same_v<T, Half>)
        return to_float(value);
    else
        return static_cast<float>(value);
}

template <class T>
T narrowed(float value) {
    if constexpr (std::is_same_v<T, Half>) {
        return to_half(value);
    } else if constexpr (std::is_floating_point_v<T>) {
        return value;
    } else {
        // The limits are compared as doubles, because floats cannot represent the limits of 32-bit
        // integers. Doubles cannot represent the upper limit of 64-bit integers, so the next power
        // of two replaces this limit.
        constexpr double behind = 2.0 * (std::numeric_limits<T>::max() / 2 + 1);
        const double rounded = std::nearbyint(static_cast<double>(value));
        if (std::isnan(rounded))
            return 0;
        if (rounded >= behind)
            return std::numeric_limits<T>::max();
        if (rounded <= static_cast<double>(std::numeric_limits<T>::min()))
            return std::numeric_limits<T>::min();
        return static_cast<T>(rounded);
    }
}

} // namespace

Bytes size_of(Sample sample) {
    return visit_sample(
        sample, []<class T>(std::type_identity<T>) { return static_cast<Bytes>(sizeof(T)); });
}

std::string_view name(Sample sample) {
    return named.at(static_cast<std::size_t>(sample)).name;
}

std::optional<Sample> sample_named(std::string_view wanted) {
    const auto found = std::find_if(named.begin(), named.end(),
                                    [&](const NamedSample& row) { return row.name == wanted; });
    return found == named.end() ? std::nullopt : std::optional(found->sample);
}

std::optional<Sample> sample_of(char kind, std::int64_t bits) {
    return sample_named(fmt::format("{}{}", kind, bits));
}

std::string long_name(Sample sample) {
    const std::string_view own = name(sample);
    return fmt::format("{}{}",
                       own[0] == 'u'   ? "uint"
                       : own[0] == 'i' ? "int"
                                       : "float",
                       own.substr(1));
}

void to_floats(Sample sample, std::span<const std::byte> from, std::span<float> to) {
    check_count(sample, from.size(), to.size());
    visit_sample(sample, [&]<class T>(std::type_identity<T>) {
        for (std::size_t i = 0; i < to.size(); ++i) {
            T value{};
            std::memcpy(&value, from.data() + i * sizeof(T), sizeof(T));
            to[i] = widened(value);
        }
    });
}

void from_floats(Sample sample, std::span<const float> from, std::span<std::byte> to) {
    check_count(sample, to.size(), from.size());
    visit_sample(sample, [&]<class T>(std::type_identity<T>) {
        for (std::size_t i = 0; i < from.size(); ++i) {
            const T value = narrowed<T>(from[i]);
            std::memcpy(to.data() + i * sizeof(T), &value, sizeof(T));
        }
    });
}

void check_range(std::span<const std::byte> from, std::span<float> to, double scale, bool strict,
                 const std::string& path, std::int64_t frame) {
    for (std::size_t i = 0; i < to.size(); ++i) {
        if (!std::isinf(to[i]))
            continue;
        double sample = 0;
        std::memcpy(&sample, from.data() + i * sizeof(double), sizeof(double));
        if (!std::isfinite(sample))
            continue;
        if (strict)
            throw InvalidFile(
                path, fmt::format("frame {}: the sample {:g} exceeds the range of 32-bit floats, "
                                  "in which samples are processed, expected at most {:g}",
                                  frame, sample,
                                  scale * static_cast<double>(std::numeric_limits<float>::max())));
        to[i] = std::numeric_limits<float>::quiet_NaN();
    }
}

void swap_bytes(Sample sample, std::span<std::byte> samples) {
    const auto size = static_cast<std::size_t>(size_of(sample));
    for (std::size_t at = 0; at + size <= samples.size(); at += size)
        std::reverse(samples.data() + at, samples.data() + at + size);
}

} // namespace sextant
