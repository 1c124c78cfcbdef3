// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/edge/edge_rows.hpp"

#include "sextant/kernel/edge/edge_row.hpp"

#include <algorithm>
#include <limits>

namespace sextant::kernel {

namespace {

/// A gradient of 0 is longer than none beside it. Where the lower threshold is 0, as quantiles of
/// images that are flat for the most part are, flat parts are passed over by this.
float lowest_edge(EdgeThresholds thresholds) {
    return std::max(static_cast<float>(thresholds.low), std::numeric_limits<float>::denorm_min());
}

} // namespace

Tile grown(const Tile& tile, Elements by, ImageShape image) {
    const Elements x = std::max<Elements>(tile.x - by, 0), y = std::max<Elements>(tile.y - by, 0);
    return {x, y, std::min(tile.x + tile.width + by, image.width) - x,
            std::min(tile.y + tile.height + by, image.height) - y};
}

EdgeRows::EdgeRows(const Tile& tile, ImageShape image, EdgeThresholds thresholds,
                   const EdgePlane& codes)
    : tile_(tile),
      needed_(grown(tile, 1, image)),
      codes_(codes),
      low_(lowest_edge(thresholds)),
      high_(static_cast<float>(thresholds.high)),
      pitch_(static_cast<std::size_t>(tile.width + 2)),
      next_(needed_.y),
      lengths_(3 * pitch_, 0.F),
      headings_(3 * pitch_, 0) {}

void EdgeRows::take(const float* x, const float* y) {
    const std::size_t at = place(next_) + static_cast<std::size_t>(needed_.x - (tile_.x - 1));
    measure_gradients({x, y, needed_.width, low_, lengths_.data() + at, headings_.data() + at});
    if (next_ > tile_.y)
        classify(next_ - 1);
    ++next_;
    if (next_ == tile_.y + tile_.height && next_ == needed_.y + needed_.height) {
        std::fill_n(lengths_.data() + place(next_), pitch_, 0.F); // the image ends here
        classify(next_ - 1);
    }
}

void EdgeRows::classify(Elements y) {
    const auto row = [&](Elements at) { return lengths_.data() + place(at) + 1; };
    classify_edges({row(y - 1), row(y), row(y + 1), headings_.data() + place(y) + 1, low_, high_,
                    codes_.first + (y - tile_.y) * codes_.stride, tile_.width});
}

} // namespace sextant::kernel
