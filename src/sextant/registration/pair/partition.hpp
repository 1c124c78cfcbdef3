// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <algorithm>
#include <cstdint>

namespace sextant::registration {

/// Divides the rows of an image into bands, which are the tasks of a team's threads. By default a
/// band has 32 rows, or more in a tall image, so that there are at most 64 bands. The bands depend
/// only on the image, so sums accumulated band by band have the same bits for any number of
/// threads.
class Bands {
  public:
    static constexpr int most = 64;
    static constexpr Elements least_height = 32;

    explicit Bands(Elements rows, Elements least = least_height) : rows_(rows), height_(least) {
        while (rows_ > most * height_)
            height_ *= 2;
    }
    int count() const { return static_cast<int>((rows_ + height_ - 1) / height_); }
    /// Returns the first row of a band; for band == count(), the number of rows.
    Elements first(int band) const { return std::min(rows_, band * height_); }

  private:
    Elements rows_, height_;
};

/// A rank's block [first, last) of consecutive items.
struct Block {
    std::int64_t first = 0, last = 0;
    std::int64_t count() const { return last - first; }
    bool has(std::int64_t item) const { return item >= first && item < last; }
};

inline Block block_of(int rank, int ranks, std::int64_t items) {
    return {items * rank / ranks, items * (rank + 1) / ranks};
}

} // namespace sextant::registration
