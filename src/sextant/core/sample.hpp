// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"
#include "sextant/core/units.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <type_traits>

namespace sextant {

/// What one measured value is stored as: unsigned and signed integers, floating-point numbers.
enum class Sample { u8, i8, u16, i16, u32, i32, u64, i64, f16, f32, f64 };

/// Calls `visit` with std::type_identity of the C++ type of a sample.
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
    throw std::logic_error("a sample of no known type");
}

Bytes size_of(Sample sample);
/// "u16", "f32".
std::string_view name(Sample sample);
/// The sample of a name, if there is one.
std::optional<Sample> sample_named(std::string_view name);

/// Samples as the nearest floats: exact up to 24 significant bits, infinite beyond a float's range.
///
/// Requires  as many samples as floats (std::logic_error); samples need not be aligned.
void to_floats(Sample sample, std::span<const std::byte> from, std::span<float> to);

/// Floats as samples: integers are rounded to nearest, of two equally near ones to the even, and
/// clamped to their range, NaN becomes 0; halves as `to_half` does.
///
/// Requires  as many samples as floats (std::logic_error); samples need not be aligned.
void from_floats(Sample sample, std::span<const float> from, std::span<std::byte> to);

/// Turns samples from the byte order of another machine into that of this one, and back.
void swap_bytes(Sample sample, std::span<std::byte> samples);

} // namespace sextant
