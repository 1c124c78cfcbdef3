// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/memory.hpp"
#include "sextant/core/operator.hpp"

#include <cstddef>
#include <vector>

namespace sextant {

/// An element as where nothing was drawn. Throws std::logic_error for operators that do not say, or
/// whose elements no code is made of.
std::vector<std::byte> nothing_of(const Operator& op);

/// What a fold reads in place of elements that a code leaves out: a few of nothing, and, for each
/// operand, a few of one that stands for many.
class Patches {
  public:
    Patches() = default;
    Patches(const Operator& op, std::size_t operands);

    /// How many elements there are of each.
    Elements elements() const { return elements_; }
    const std::byte* nothing() const { return memory_.data(); }

    /// So many of one element, for an operand, until it asks again.
    const std::byte* repeated(std::size_t operand, const std::byte* element, Elements count);

  private:
    static constexpr Bytes most_bytes = Bytes{16} << 10; // stays in the nearest cache

    Bytes size_ = 0;
    Elements elements_ = 0;
    Memory memory_;
};

} // namespace sextant
