// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/distributed/join_components.hpp"

#include "sextant/comm/agree.hpp"
#include "sextant/contour/frontier.hpp"
#include "sextant/contour/list_sizes.hpp"
#include "sextant/core/error.hpp"
#include "sextant/distributed/merge_lists.hpp"
#include "sextant/kernel/label/each_run.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sextant {

namespace {

using contour::BorderPixel;
using contour::Frontier;
using contour::Touch;

Touch touch_of(kernel::Connection connection) {
    return connection.neighbours == kernel::Neighbours::eight ? Touch::corners : Touch::sides;
}

/// What neighbours must have in common to belong together.
std::uint64_t value_at(const ComponentsOfTile& tile, Elements x, Elements y) {
    if (tile.connection.sameness == kernel::Sameness::foreground)
        return 1;
    return std::visit(
        [&](const auto* first) { return kernel::value_code(first[y * tile.input.stride + x]); },
        tile.input.first);
}

/// The pixels on a tile's sides that are not the image's, and not background.
template <class Body>
void each_border_pixel(const ComponentsOfTile& from, Body&& body) {
    const Tile& tile = from.input.tile;
    const ImageShape image = from.input.image;
    const bool left = tile.x > 0, right = tile.x + tile.width < image.width;
    const auto look_at = [&](Elements x, Elements y) {
        const kernel::Label label = from.labeller.label_at(x, y);
        if (label != 0)
            body(x, y, label);
    };
    for (Elements y = 0; y < tile.height && tile.width > 0; ++y) {
        if ((y == 0 && tile.y > 0) ||
            (y + 1 == tile.height && tile.y + tile.height < image.height)) {
            kernel::each_run(from.labeller.runs_of(y), tile.width,
                             [&](Elements begin, Elements end, kernel::Label label) {
                                 for (Elements x = begin; x < end; ++x)
                                     body(x, y, label);
                             });
            continue;
        }
        if (left || (right && tile.width == 1))
            look_at(0, y);
        if (right && tile.width > 1)
            look_at(tile.width - 1, y);
    }
}

} // namespace

Elements border_entries(const ComponentsOfTile& tile) {
    Elements count = 0;
    each_border_pixel(tile, [&](Elements, Elements, kernel::Label) { ++count; });
    return count;
}

Frontier frontier_of(const ComponentsOfTile& tile, int position) {
    const Tile& at = tile.input.tile;
    Frontier frontier{{position, position + 1}, {}};
    each_border_pixel(tile, [&](Elements x, Elements y, kernel::Label label) {
        const auto component = static_cast<std::size_t>(label - 1);
        frontier.entries.push_back(
            {(at.y + y) * tile.input.image.width + at.x + x,
             value_at(tile, x, y),
             {tile.first_pixels[component], !tile.marked.empty() && tile.marked[component] != 0}});
    });
    return frontier;
}

std::vector<PartOf> parts_of(const ComponentsOfTile& tile, const Frontier& own,
                             std::span<const BorderPixel> joined) {
    std::vector<PartOf> parts;
    for (std::size_t i = 0; i < tile.first_pixels.size(); ++i)
        parts.push_back({tile.first_pixels[i], !tile.marked.empty() && tile.marked[i] != 0});
    const auto by_pixel = [](const BorderPixel& each, Elements pixel) {
        return each.pixel < pixel;
    };
    for (const BorderPixel& mine : own.entries) {
        const auto part = std::ranges::lower_bound(tile.first_pixels, mine.part.component()) -
                          tile.first_pixels.begin();
        const auto whole = std::lower_bound(joined.begin(), joined.end(), mine.pixel, by_pixel);
        parts[static_cast<std::size_t>(part)] = {whole->part.component(), whole->part.marked()};
    }
    return parts;
}

std::vector<PartOf> join_components(const Communicator& communicator, const Grid& grid,
                                    const ComponentsOfTile& tile, const contour::Pattern& pattern,
                                    MergingRecord* record) {
    const Touch touch = touch_of(tile.connection);
    std::optional<contour::Order> order;
    Frontier own;
    agree(communicator, [&] {
        if (grid.ranks() != communicator.size())
            throw InvalidTask(fmt::format("{}x{} tiles on {} ranks, expected one a rank",
                                          grid.columns, grid.rows, communicator.size()));
        order.emplace(grid, pattern.stages(grid));
        own = frontier_of(tile, order->position(communicator.rank()));
    });
    const std::vector<Frontier> lists = merge_lists<BorderPixel>(
        communicator, grid, own, pattern,
        [&](std::span<const Frontier> some) { return contour::merge(*order, some, touch); },
        [&](contour::Run run) { return contour::most_on_border(*order, run); }, record);
    std::vector<PartOf> parts;
    agree(communicator,
          [&] { parts = parts_of(tile, own, contour::join(lists, grid.width, touch)); });
    return parts;
}

} // namespace sextant
