// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/tile_range.hpp"

#include <algorithm>
#include <stdexcept>

namespace sextant::collective {

namespace {

Tile rectangle(const Grid& grid, int first, int last) {
    const Tile a = tile(grid, first), b = tile(grid, last);
    return {a.x, a.y, b.x + b.width - a.x, b.y + b.height - a.y};
}

bool holds(const Tile& outer, const Tile& inner) {
    return inner.x >= outer.x && inner.y >= outer.y &&
           inner.x + inner.width <= outer.x + outer.width &&
           inner.y + inner.height <= outer.y + outer.height;
}

} // namespace

Region region_of(const Tile& outer, const Tile& inner, int buffer) {
    if (inner.elements() == 0)
        return block(buffer, 0, 0);
    const Elements first = (inner.y - outer.y) * outer.width + inner.x - outer.x;
    if (inner.width == outer.width)
        return block(buffer, first, inner.elements());
    return {buffer, first, inner.width, outer.width, inner.height};
}

TileRange::TileRange(const Grid& grid, int first, int last) {
    last = std::min(last, grid.ranks());
    while (first < last) {
        const int whole_rows = first % grid.columns == 0 ? (last - first) / grid.columns : 0;
        const int row_end = (first / grid.columns + 1) * grid.columns;
        const int end =
            whole_rows > 0 ? first + whole_rows * grid.columns : std::min(last, row_end);
        const Tile found = rectangle(grid, first, end - 1);
        if (found.elements() > 0)
            rectangles_.push_back(found);
        first = end;
    }
}

Elements TileRange::elements() const {
    Elements sum = 0;
    for (const Tile& rectangle : rectangles_)
        sum += rectangle.elements();
    return sum;
}

Region TileRange::place(const Tile& inner, int buffer) const {
    Elements start = 0;
    for (const Tile& outer : rectangles_) {
        if (!holds(outer, inner)) {
            start += outer.elements();
            continue;
        }
        Region region = sextant::collective::region_of(outer, inner, buffer);
        region.offset += start;
        return region;
    }
    throw std::logic_error("a tile lies outside the range of tiles");
}

std::vector<Region> TileRange::regions_of(const TileRange& part, int buffer) const {
    std::vector<Region> regions;
    for (const Tile& rectangle : part.rectangles_)
        regions.push_back(place(rectangle, buffer));
    return regions;
}

Region TileRange::region_of(const Grid& grid, int tile, int buffer) const {
    const Tile wanted = sextant::tile(grid, tile);
    return wanted.elements() > 0 ? place(wanted, buffer) : block(buffer, 0, 0);
}

} // namespace sextant::collective
