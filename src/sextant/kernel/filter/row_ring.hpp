// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/memory.hpp"

#include <vector>

namespace sextant::kernel {

/// The last 2 reach + 1 of a series of rows of floats: a row takes the place of the oldest.
class RowRing {
  public:
    RowRing() = default;
    /// Rows are aligned to 64 bytes and readable up to `width` rounded up to `line_unit`.
    RowRing(int reach, Elements width);

    /// Where row y >= 0 lies, or is to be written.
    float* row(Elements y) { return rows_[static_cast<std::size_t>(y % count())]; }
    /// [k] is row y + k, for |k| <= reach.
    const float* const* around(Elements y) const {
        return rows_.data() + (y - reach_) % count() + reach_;
    }

  private:
    Elements count() const { return 2 * reach_ + 1; }

    Elements reach_ = 0;
    Memory memory_;
    std::vector<float*> rows_; // all of them twice, so that any so many in turn are neighbours
};

} // namespace sextant::kernel
