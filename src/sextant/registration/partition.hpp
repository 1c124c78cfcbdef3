// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <algorithm>
#include <cstdint>

namespace sextant::registration {

/// Rows of an image in bands that a team shares out: as high as tiles are, higher where there would
/// be too many. They depend on the image alone, so sums by bands have the same bits whoever adds.
class Bands {
  public:
    static constexpr int most = 64;
    static constexpr Elements least_height = 32;

    explicit Bands(Elements rows, Elements least = least_height) : rows_(rows), height_(least) {
        while (rows_ > most * height_)
            height_ *= 2;
    }
    int count() const { return static_cast<int>((rows_ + height_ - 1) / height_); }
    /// The first row of a band; of the one after the last, the end.
    Elements first(int band) const { return std::min(rows_, band * height_); }

  private:
    Elements rows_, height_;
};

/// What a rank has of so many things that lie one after another: the first, and the one after the
/// last.
struct Share {
    std::int64_t first = 0, last = 0;
    std::int64_t count() const { return last - first; }
    bool has(std::int64_t thing) const { return thing >= first && thing < last; }
};

inline Share share_of(int rank, int ranks, std::int64_t things) {
    return {things * rank / ranks, things * (rank + 1) / ranks};
}

} // namespace sextant::registration
