// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/label/directions.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::kernel {

Tile grown(const Tile& tile, Elements by, ImageShape image) {
    const Elements x = std::max<Elements>(tile.x - by, 0), y = std::max<Elements>(tile.y - by, 0);
    return {x, y, std::min(tile.x + tile.width + by, image.width) - x,
            std::min(tile.y + tile.height + by, image.height) - y};
}

namespace {

void check(const DirectionView& input, const Tile& tile, Elements margin) {
    const auto [width, height] = input.image;
    if (tile.x < 0 || tile.y < 0 || tile.width < 0 || tile.height < 0 ||
        tile.x + tile.width > width || tile.y + tile.height > height)
        throw InvalidTask(
            fmt::format("the tile of {}x{} pixels at ({}, {}) is not within the image of {}x{}",
                        tile.width, tile.height, tile.x, tile.y, width, height));
    if (tile.elements() == 0)
        return;
    const Tile needed = grown(tile, margin, input.image);
    const Elements right = needed.x + needed.width - 1, bottom = needed.y + needed.height - 1;
    if (!input.tile.holds(needed.x, needed.y) || !input.tile.holds(right, bottom))
        throw InvalidTask(fmt::format("the tile of {}x{} pixels at ({}, {}) needs {}x{} directions "
                                      "at ({}, {}), got {}x{} at ({}, {})",
                                      tile.width, tile.height, tile.x, tile.y, needed.width,
                                      needed.height, needed.x, needed.y, input.tile.width,
                                      input.tile.height, input.tile.x, input.tile.y));
}

} // namespace

void LinkedRows::Ring::resize(Elements rows, Elements pitch) {
    rows_ = rows;
    pitch_ = pitch;
    if (memory_.size() < rows * pitch)
        memory_ = Memory(rows * pitch);
    std::fill_n(reinterpret_cast<Direction*>(memory_.data()), rows * pitch, no_edge);
}

void LinkedRows::Ring::clear(Elements y) {
    std::fill_n(row(y) - link_slack, pitch_, no_edge);
}

void LinkedRows::begin(const DirectionView& input, const Tile& tile) {
    check(input, tile, reach);
    input_ = input;
    tile_ = tile;
    y_ = junctions_ = cut_ = 0;
    const Elements pitch = tile.width + 3 * link_slack;
    directions_.resize(2 * reach + 1, pitch);
    predecessors_.resize(3, pitch);
    successors_.resize(1, pitch);
    if (tile.elements() == 0)
        return;
    for (Elements y = -reach; y < 0; ++y)
        read(y);
    for (Elements y = -1; y <= 0; ++y) {
        read(y + reach - 1);
        find_predecessors_of(y);
    }
}

LinkedRow LinkedRows::next(std::uint64_t* points) {
    read(y_ + reach);
    find_predecessors_of(y_ + 1);
    cut_ += find_successors(directions_.row(y_), around(predecessors_, y_), tile_.width,
                            successors_.row(0), points);
    return {successors_.row(0), predecessors_.row(y_++)};
}

void LinkedRows::find_predecessors_of(Elements y) {
    const LinkCounts counts =
        find_predecessors(around(directions_, y), tile_.width, predecessors_.row(y));
    if (counts.faulty)
        refuse();
    if (y >= 0 && y < tile_.height)
        junctions_ += counts.junctions;
}

ThreeRows LinkedRows::around(Ring& rows, Elements y) {
    return {rows.row(y - 1), rows.row(y), rows.row(y + 1)};
}

/// Reads a row of directions. Pixels outside the image are not edge points.
void LinkedRows::read(Elements y) {
    const Tile wanted = grown(tile_, reach, input_.image);
    const Elements row = tile_.y + y;
    if (row < wanted.y || row >= wanted.y + wanted.height)
        return directions_.clear(y);
    const Direction* const from =
        input_.first + (row - input_.tile.y) * input_.stride + wanted.x - input_.tile.x;
    std::copy_n(from, wanted.width, directions_.row(y) + wanted.x - tile_.x);
}

void LinkedRows::refuse() const {
    const Tile& given = input_.tile;
    const auto at = [&](Elements x, Elements y) {
        return input_.first[(y - given.y) * input_.stride + x - given.x];
    };
    for (Elements y = given.y; y < given.y + given.height; ++y) {
        for (Elements x = given.x; x < given.x + given.width; ++x) {
            const int code = at(x, y);
            if (code < edge_end || code > 7)
                throw InvalidData(fmt::format(
                    "direction {} at ({}, {}) is invalid, expected -2 to 7", code, x, y));
            if (code < 0)
                continue;
            const Elements to_x = x + steps[code].x, to_y = y + steps[code].y;
            const bool in_image =
                to_x >= 0 && to_x < input_.image.width && to_y >= 0 && to_y < input_.image.height;
            if (in_image && (!given.holds(to_x, to_y) || at(to_x, to_y) != no_edge))
                continue;
            throw InvalidData(fmt::format(
                "direction {} at ({}, {}) leads to ({}, {}), {}", code, x, y, to_x, to_y,
                in_image ? "which is not an edge point" : "which is outside the image"));
        }
    }
    throw std::logic_error("a row failed its check, but none of its directions is invalid");
}

} // namespace sextant::kernel
