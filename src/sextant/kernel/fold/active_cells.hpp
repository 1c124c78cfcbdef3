// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sextant::kernel {

/// Whether something was drawn is asked of so many neighbouring elements at once: finer would find
/// hardly less to leave out of pictures of things, and need more to be said about what is left.
inline constexpr Elements cell_elements = 16;

/// Tells cells that hold something from those in which every byte is as where nothing was drawn.
class ActiveCells {
  public:
    /// Input     an element as where nothing was drawn (Operator::fill_identity).
    /// Requires  elements of a multiple of 4 bytes.
    explicit ActiveCells(std::span<const std::byte> nothing);

    Bytes element_size() const { return static_cast<Bytes>(cell_.size()) / cell_elements; }
    /// What a cell is compared with: so many elements of nothing.
    std::span<const std::byte> nothing() const { return cell_; }

    static constexpr Elements most = 64 * cell_elements;
    /// Bit i: whether cell i of `elements` <= `most` holds something; the last may be cut short.
    std::uint64_t operator()(const std::byte* from, Elements elements) const;

  private:
    std::vector<std::byte> cell_;
};

} // namespace sextant::kernel
