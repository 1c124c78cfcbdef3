// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"
#include "sextant/core/units.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace sextant {

/// The stored type of a measured value: unsigned and signed integers, floating-point numbers.
enum class Sample { u8, i8, u16, i16, u32, i32, u64, i64, f16, f32, f64 };

/// Calls `visit` with std::type_identity of a sample's C++ type.
template <class Visitor>
decltype(auto) visit_sample(Sample sample, const Visitor& visit) {
    switch (sample) {
    case Sample::u8:
        return visit(std::type_identity<std::uint8_t>());
    case Sample::i8:
        return visit(std::type_identity<std::int8_t>());
    case Sample::u16:
        return visit(std::type_identity<std::uint16_t>());
    case Sample::i16:
        return visit(std::type_identity<std::int16_t>());
    case Sample::u32:
        return visit(std::type_identity<std::uint32_t>());
    case Sample::i32:
        return visit(std::type_identity<std::int32_t>());
    case Sample::u64:
        return visit(std::type_identity<std::uint64_t>());
    case Sample::i64:
        return visit(std::type_identity<std::int64_t>());
    case Sample::f16:
        return visit(std::type_identity<Half>());
    case Sample::f32:
        return visit(std::type_identity<float>());
    case Sample::f64:
        return visit(std::type_identity<double>());
    }
    throw std::logic_error("unknown sample type");
}

Bytes size_of(Sample sample);
/// The name of a sample type, such as "u16" or "f32".
std::string_view name(Sample sample);
/// Returns the sample type with this name; empty if there is none.
std::optional<Sample> sample_named(std::string_view name);
/// Returns the sample type with this number of bits and this kind: 'u' (unsigned), 'i' (signed) or
/// 'f' (floating point); empty if there is none.
std::optional<Sample> sample_of(char kind, std::int64_t bits);
/// The name of a sample type that many formats use, such as "uint16" or "float32".
std::string long_name(Sample sample);

/// Converts samples to the nearest floats: exact up to 24 significant bits; f64 values beyond the
/// range of floats become infinite.
///
/// Requires  equal numbers of samples and floats (std::logic_error); samples need not be aligned.
void to_floats(Sample sample, std::span<const std::byte> from, std::span<float> to);

/// Converts floats to samples. Integers are rounded to nearest, ties to even, and clamped to the
/// range of the type; NaN becomes 0. Half-precision values are converted by `to_half`.
///
/// Requires  equal numbers of samples and floats (std::logic_error); samples need not be aligned.
void from_floats(Sample sample, std::span<const float> from, std::span<std::byte> to);

/// The number of bytes converted at a time; small enough to stay in the cache.
inline constexpr Bytes converted_bytes = Bytes{1} << 18;

/// Finds finite doubles that exceed the range of floats after division by `scale`. If `strict`,
/// throws InvalidFile; otherwise replaces these values by NaN, as if the samples were missing.
void check_range(std::span<const std::byte> from, std::span<float> to, double scale, bool strict,
                 const std::string& path, std::int64_t frame);

/// Reverses the byte order of samples in place.
void swap_bytes(Sample sample, std::span<std::byte> samples);

} // namespace sextant
