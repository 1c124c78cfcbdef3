// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/operator.hpp"
#include "sextant/core/units.hpp"

#include <cstddef>
#include <cstring>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace sextant::prefix {

/// The format of values of one type in slots of equal size, which are the elements that ranks
/// combine and exchange.
template <class Value>
struct Slots {
    Bytes size = 0; ///< of a slot
    /// Writes a value into a slot. May throw, which ends the scan on every rank.
    std::function<void(const Value& value, std::span<std::byte> slot)> put;
    std::function<Value(std::span<const std::byte> slot)> get;
    /// True if `put` refuses values that are too large. Values then travel with labels, so that the
    /// error names the elements that were combined (ScanOptions::names_elements).
    bool limited = false;
};

/// Slots for trivially copyable values, stored as their bytes.
template <class Value>
Slots<Value> plain_slots() {
    static_assert(std::is_trivially_copyable_v<Value>);
    return {sizeof(Value),
            [](const Value& value, std::span<std::byte> slot) {
                std::memcpy(slot.data(), &value, sizeof value);
            },
            [](std::span<const std::byte> slot) {
                Value value;
                std::memcpy(&value, slot.data(), sizeof value);
                return value;
            }};
}

/// The size of a slot for up to `capacity` bytes and their number.
Bytes sized_slot(Bytes capacity);
/// Writes bytes and their number. Throws InvalidTask if the slot is too small.
void put_sized(std::span<const std::byte> bytes, std::span<std::byte> slot);
/// The bytes written by put_sized.
std::span<const std::byte> get_sized(std::span<const std::byte> slot);

/// Slots for serialised values of at most `capacity` bytes; a larger value throws InvalidTask
/// naming its size, the capacity and the elements of the series. Messages contain whole slots, so a
/// generous capacity costs bandwidth.
template <class Value>
Slots<Value> sized_slots(Bytes capacity,
                         std::function<std::vector<std::byte>(const Value& value)> bytes_of,
                         std::function<Value(std::span<const std::byte> bytes)> value_of) {
    return {sized_slot(capacity),
            [bytes_of = std::move(bytes_of)](const Value& value, std::span<std::byte> slot) {
                put_sized(bytes_of(value), slot);
            },
            [value_of = std::move(value_of)](std::span<const std::byte> slot) {
                return value_of(get_sized(slot));
            },
            true};
}

/// The operator that combines values in slots: combine(left, right), in series order. Need not be
/// commutative.
template <class Value, class Combine>
Operator operator_on(const Slots<Value>& slots, Combine combine) {
    Operator op;
    op.name = "combine";
    op.element = {"value", slots.size};
    op.fold = [slots, combine = std::move(combine)](std::span<const std::byte* const> sources,
                                                    std::byte* to, Elements elements) {
        const auto size = static_cast<std::size_t>(slots.size);
        for (std::size_t at = 0; at < static_cast<std::size_t>(elements) * size; at += size) {
            Value sum = slots.get({sources[0] + at, size});
            for (const std::byte* source : sources.subspan(1))
                sum = combine(std::as_const(sum), slots.get({source + at, size}));
            slots.put(sum, {to + at, size});
        }
    };
    return op;
}

} // namespace sextant::prefix
