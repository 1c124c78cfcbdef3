// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/agreement.hpp"
#include "sextant/core/error.hpp"
#include "sextant/prefix/scan.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// The exclusive and the segmented form of a scan. Both run an inclusive scan, by any strategy and
// on any number of threads per rank.
namespace sextant::prefix {

/// Scans a series once: each value is replaced by the combination of all values before it.
///
/// Input     this rank's values, any number; combine(left, right) of two values, which need not be
///           commutative; the format of values in slots.
/// Output    the same number of values. Result i combines values 0 … i − 1 of the series; the first
///           result of the series combines no value and is empty.
/// Throws    AgreedFailure on every rank if anything fails on any rank.
/// Cost      one message of one value from each rank to the next rank that has values, plus an
///           inclusive scan of the series without its last value. Needs two more all-gathers and
///           one more agreement than an inclusive scan.
/// Collective. Deterministic  under the same conditions as scan().
template <class Value, class Combine>
std::vector<std::optional<Value>>
exclusive_scan(const Communicator& communicator, std::span<const Value> values, Combine combine,
               const Slots<Value>& slots, const ScanOptions& options = {}) {
    ScanOptions with_names = options;
    with_names.names_elements |= slots.limited;
    Shift shift(communicator, static_cast<Elements>(values.size()), slots.size);
    const Memory own = in_slots(communicator, values, slots, shift.first());
    // Position i of the shifted series has value i − 1, so errors of the scan name the correct
    // positions of the series.
    const std::span<const std::byte> preceding = shift.run(own.bytes());
    Scan series(communicator, shift.received(), operator_on(slots, std::move(combine)), with_names);
    const std::vector<Value> combined = from_slots(communicator, series.run(preceding), slots);
    std::vector<std::optional<Value>> results;
    agree(communicator, [&] {
        results.reserve(values.size());
        if (shift.leads())
            results.emplace_back();
        results.insert(results.end(), combined.begin(), combined.end());
    });
    return results;
}

/// Scans a series of trivially copyable values once, exclusively.
template <class Value, class Combine>
std::vector<std::optional<Value>> exclusive_scan(const Communicator& communicator,
                                                 std::span<const Value> values, Combine combine,
                                                 const ScanOptions& options = {}) {
    return exclusive_scan(communicator, values, std::move(combine), plain_slots<Value>(), options);
}

/// As above, but the first result of the series is `identity`. `identity` is not combined with any
/// value, so it need not be an identity of the operator. Only the argument on the rank with the
/// first value is used.
template <class Value, class Combine>
std::vector<Value> exclusive_scan(const Communicator& communicator, std::span<const Value> values,
                                  const std::type_identity_t<Value>& identity, Combine combine,
                                  const Slots<Value>& slots, const ScanOptions& options = {}) {
    std::vector<std::optional<Value>> found =
        exclusive_scan(communicator, values, std::move(combine), slots, options);
    std::vector<Value> results;
    agree(communicator, [&] {
        results.reserve(found.size());
        for (std::optional<Value>& value : found)
            results.push_back(value ? *std::move(value) : identity);
    });
    return results;
}

template <class Value, class Combine>
std::vector<Value> exclusive_scan(const Communicator& communicator, std::span<const Value> values,
                                  const std::type_identity_t<Value>& identity, Combine combine,
                                  const ScanOptions& options = {}) {
    return exclusive_scan(communicator, values, identity, std::move(combine), plain_slots<Value>(),
                          options);
}

/// A value of a segmented scan, with a flag that is set if the combined values include the start of
/// a segment.
template <class Value>
struct Segmented {
    Value value;
    bool starts = false;
};

/// Returns slots for segmented values, which take one byte more per value.
template <class Value>
Slots<Segmented<Value>> segmented_slots(const Slots<Value>& slots) {
    const auto size = static_cast<std::size_t>(slots.size);
    return {slots.size + 1,
            [slots, size](const Segmented<Value>& one, std::span<std::byte> slot) {
                slots.put(one.value, slot.first(size));
                slot[size] = std::byte{one.starts};
            },
            [slots, size](std::span<const std::byte> slot) {
                return Segmented<Value>{slots.get(slot.first(size)), slot[size] != std::byte{0}};
            },
            slots.limited};
}

/// Scans the segments of a series once: each value is combined with all values before it that are
/// in the same segment. Segments are contiguous and may extend over any number of ranks.
///
/// Input     this rank's values, any number; for each value, a flag: nonzero if the value starts a
///           segment, 0 if it continues the previous segment; combine(left, right) of two values,
///           which need not be commutative; the format of values in slots. The first value of the
///           series starts a segment in any case.
/// Output    the same number of values.
/// Requires  `starts` and `values` of equal size (otherwise InvalidTask on the rank, and thus
///           AgreedFailure on every rank).
/// Throws    AgreedFailure on every rank if anything fails on any rank.
/// Cost      the same as scan() on values that are one byte larger. Values of different segments
///           are never combined: such an application only copies the right value.
/// Collective. Deterministic  under the same conditions as scan().
/// Source    Blelloch, Prefix Sums and Their Applications, CMU-CS-90-190, 1990, section 1.5: the
///           operator on pairs (starts, value) is associative
template <class Value, class Combine>
std::vector<Value> segmented_scan(const Communicator& communicator, std::span<const Value> values,
                                  std::span<const std::uint8_t> starts, Combine combine,
                                  const Slots<Value>& slots, const ScanOptions& options = {}) {
    std::vector<Segmented<Value>> own;
    agree(communicator, [&] {
        if (starts.size() != values.size())
            throw InvalidTask("rank " + std::to_string(communicator.rank()) + ": " +
                              std::to_string(starts.size()) + " starts of segments, expected " +
                              std::to_string(values.size()) + ", one per value");
        own.reserve(values.size());
        for (std::size_t i = 0; i < values.size(); ++i)
            own.push_back({values[i], starts[i] != 0});
    });
    const auto within_segments = [combine = std::move(combine)](const Segmented<Value>& left,
                                                                const Segmented<Value>& right) {
        if (right.starts)
            return right;
        return Segmented<Value>{combine(left.value, right.value), left.starts};
    };
    std::vector<Segmented<Value>> scanned =
        scan(communicator, std::span<const Segmented<Value>>(own), within_segments,
             segmented_slots(slots), options);
    std::vector<Value> results;
    agree(communicator, [&] {
        results.reserve(scanned.size());
        for (Segmented<Value>& one : scanned)
            results.push_back(std::move(one.value));
    });
    return results;
}

/// Scans the segments of a series of trivially copyable values once.
template <class Value, class Combine>
std::vector<Value> segmented_scan(const Communicator& communicator, std::span<const Value> values,
                                  std::span<const std::uint8_t> starts, Combine combine,
                                  const ScanOptions& options = {}) {
    return segmented_scan(communicator, values, starts, std::move(combine), plain_slots<Value>(),
                          options);
}

} // namespace sextant::prefix
