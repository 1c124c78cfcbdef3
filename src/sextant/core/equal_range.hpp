// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <span>

namespace sextant {

/// The elements of a sorted list whose projection equals a value. Replaces
/// std::ranges::equal_range, whose result clang 14 does not accept.
template <class List, class Value, class Projection>
auto equal_range(const List& list, const Value& value, Projection projection) {
    return std::span(std::ranges::lower_bound(list, value, {}, projection),
                     std::ranges::upper_bound(list, value, {}, projection));
}

} // namespace sextant
