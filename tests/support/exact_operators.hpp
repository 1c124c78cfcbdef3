// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/operator.hpp"

#include <cstdint>
#include <cstring>
#include <vector>

// Operators that are exactly associative but not commutative: a wrong order or a lost or repeated
// operand changes the result, and every order of association gives the same bits.
namespace sextant::test {

inline constexpr std::uint64_t prime = 1'000'000'007;

/// 2 × 2 matrices modulo a prime.
struct Matrix {
    std::uint64_t a = 1, b = 0, c = 0, d = 1;
    bool operator==(const Matrix&) const = default;
};

inline Matrix combine(const Matrix& x, const Matrix& y) {
    return {(x.a * y.a + x.b * y.c) % prime, (x.a * y.b + x.b * y.d) % prime,
            (x.c * y.a + x.d * y.c) % prime, (x.c * y.b + x.d * y.d) % prime};
}

/// Concatenation of decimal numbers: the number modulo a prime, and 10 to the power of its number
/// of digits, modulo the same prime.
struct Digits {
    std::uint64_t number = 0, power = 1;
    bool operator==(const Digits&) const = default;
};

inline Digits combine(const Digits& x, const Digits& y) {
    return {(x.number * y.power + y.number) % prime, x.power * y.power % prime};
}

/// Value `i` of a series, different from all others.
template <class Value>
Value exact_value(std::uint64_t i);

template <>
inline Matrix exact_value(std::uint64_t i) {
    return {i + 2, 3 * i + 1, 7, (i * i + 5) % prime};
}

template <>
inline Digits exact_value(std::uint64_t i) {
    return {i % 1000, i % 2 == 0 ? 1000u : 10'000u};
}

template <class Value>
Operator exact_operator() {
    Operator op;
    op.name = "exact";
    op.element = {"exact value", sizeof(Value)};
    op.fold = [](std::span<const std::byte* const> sources, std::byte* to, Elements elements) {
        for (Elements e = 0; e < elements; ++e) {
            Value sum, next;
            std::memcpy(&sum, sources[0] + e * sizeof sum, sizeof sum);
            for (const std::byte* source : sources.subspan(1)) {
                std::memcpy(&next, source + e * sizeof next, sizeof next);
                sum = combine(sum, next);
            }
            std::memcpy(to + e * sizeof sum, &sum, sizeof sum);
        }
    };
    return op;
}

/// `count` values: first, first + stride, ...
template <class Value>
std::vector<Value> exact_values(std::uint64_t first, Elements count, std::uint64_t stride = 1) {
    std::vector<Value> values;
    for (Elements i = 0; i < count; ++i)
        values.push_back(exact_value<Value>(first + static_cast<std::uint64_t>(i) * stride));
    return values;
}

/// Reference result: the inclusive scan, computed from left to right.
template <class Value>
std::vector<Value> serial_scan(std::vector<Value> values) {
    for (std::size_t i = 1; i < values.size(); ++i)
        values[i] = combine(values[i - 1], values[i]);
    return values;
}

} // namespace sextant::test
