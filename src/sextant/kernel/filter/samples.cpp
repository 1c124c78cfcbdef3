// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/filter/samples.hpp"

#include <algorithm>

namespace sextant::kernel {

namespace {

struct Range {
    Elements first, last;
};

Range read_along(Range range, Elements size, int reach, Border border) {
    Range read = range;
    for (int k = 1; k <= reach; ++k) {
        for (const Elements at : {range.first - k, range.last + k}) {
            if (const auto seen = seen_at(border, at, size)) {
                read.first = std::min(read.first, *seen);
                read.last = std::max(read.last, *seen);
            }
        }
    }
    return read;
}

} // namespace

Tile read_for(const Tile& tile, ImageShape image, int reach_x, int reach_y, Border border) {
    const Range columns =
        read_along({tile.x, tile.x + tile.width - 1}, image.width, reach_x, border);
    const Range rows =
        read_along({tile.y, tile.y + tile.height - 1}, image.height, reach_y, border);
    return {columns.first, rows.first, columns.last - columns.first + 1,
            rows.last - rows.first + 1};
}

} // namespace sextant::kernel
