// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/contours/components.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/contour/merging.hpp"
#include "sextant/contour/tile_lists.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/kernel/label/labels.hpp"
#include "sextant/tiles/list_exchange.hpp"
#include "sextant/tiles/numbering.hpp"
#include "sextant/tiles/tiled_image.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace sextant {

namespace {

using contour::BorderPixel;
using contour::Frontier;
using contour::Touch;

Touch touch_of(kernel::Connection connection) {
    return connection.neighbours == kernel::Neighbours::eight ? Touch::corners : Touch::sides;
}

/// Returns the code of a pixel; neighbours are connected if their codes are equal.
std::uint64_t value_at(const ComponentsOfTile& tile, Elements x, Elements y) {
    if (tile.connection.sameness == kernel::Sameness::foreground)
        return 1;
    return std::visit(
        [&](const auto* first) { return kernel::value_code(first[y * tile.input.stride + x]); },
        tile.input.first);
}

/// Calls `body` with each labelled pixel on the tile's sides, except sides of the image.
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

std::vector<WholeComponent> parts_of(const ComponentsOfTile& tile, const Frontier& own,
                                     std::span<const BorderPixel> joined) {
    std::vector<WholeComponent> parts;
    parts.reserve(tile.first_pixels.size());
    for (std::size_t i = 0; i < tile.first_pixels.size(); ++i) {
        check_cancelled(1);
        parts.push_back({tile.first_pixels[i], !tile.marked.empty() && tile.marked[i] != 0});
    }
    const auto by_pixel = [](const BorderPixel& each, Elements pixel) {
        return each.pixel < pixel;
    };
    for (const BorderPixel& border : own.entries) {
        check_cancelled(1);
        const auto part = std::ranges::lower_bound(tile.first_pixels, border.part.component()) -
                          tile.first_pixels.begin();
        const auto whole = std::lower_bound(joined.begin(), joined.end(), border.pixel, by_pixel);
        parts[static_cast<std::size_t>(part)] = {whole->part.component(), whole->part.marked()};
    }
    return parts;
}

std::vector<WholeComponent> join_components(const Communicator& communicator, const Grid& grid,
                                            const ComponentsOfTile& tile,
                                            const contour::Pattern& pattern, MergingTrace* record) {
    std::optional<contour::Merger<BorderPixel>> merger;
    Frontier own;
    agree(communicator, [&] {
        merger = contour::component_merger(merging_order(communicator, grid, pattern),
                                           touch_of(tile.connection));
        own = frontier_of(tile, merger->order.position(communicator.rank()));
    });
    const std::vector<BorderPixel> joined = join_lists(communicator, pattern, *merger, own, record);
    std::vector<WholeComponent> parts;
    agree(communicator, [&] { parts = parts_of(tile, own, joined); });
    return parts;
}

namespace {

kernel::Label* labels_in(distributed::Image& image) {
    return reinterpret_cast<kernel::Label*>(image.bytes().data());
}

std::vector<Share> shares_of(const std::vector<WholeComponent>& wholes,
                             const std::vector<kernel::RegionSize>& components) {
    std::vector<Share> shares;
    for (std::size_t i = 0; i < wholes.size(); ++i)
        shares.push_back({wholes[i].first, components[i].voxels});
    return shares;
}

/// Replaces the tile's labels by the labels of the whole image.
void relabel(Labelled& made, const std::vector<kernel::RegionSize>& components,
             const Numbering& numbering) {
    std::vector<kernel::Label> labels{0};
    for (std::size_t i = 0; i < components.size(); ++i) {
        check_cancelled(1);
        labels.push_back(static_cast<kernel::Label>(numbering.standings[i].number + 1));
        made.parts.push_back({labels.back(), components[i]});
    }
    kernel::Label* const pixels = labels_in(made.labels);
    const Elements count = made.labels.tile().elements();
    for (Elements i = 0; i < count; ++i) {
        if ((i + 1) % much_work == 0)
            check_cancelled(much_work);
        pixels[i] = labels[static_cast<std::size_t>(pixels[i])];
    }
}

} // namespace

void require_labels(Elements components) {
    constexpr Elements most = std::numeric_limits<kernel::Label>::max();
    if (components > most)
        throw InvalidData(
            fmt::format("{} components, expected at most {}, the largest label", components, most));
}

Labelled label_components(const distributed::Image& image, kernel::Connection connection,
                          const contour::Pattern& pattern, MergingTrace* record) {
    const Communicator& communicator = image.communicator();
    Labelled made{distributed::Image(communicator, image.grid(), label_i32), 0, {}};
    kernel::Labeller labeller(connection);
    std::vector<kernel::RegionSize> components;
    std::vector<Elements> first_pixels;
    kernel::ValueView view;
    agree(communicator, [&] {
        view = distributed::value_view(image);
        labeller.apply(view, {labels_in(made.labels), view.stride});
        made.nan = labeller.nan();
        components = labeller.components();
        first_pixels = labeller.first_pixels();
    });
    const std::vector<WholeComponent> wholes = join_components(
        communicator, image.grid(), {view, connection, labeller, first_pixels}, pattern, record);
    const Numbering numbering =
        number_by_pixels(communicator, image.grid(), shares_of(wholes, components));
    agree(communicator, [&] {
        require_labels(numbering.count);
        made.components = numbering.count;
        relabel(made, components, numbering);
    });
    return made;
}

std::vector<kernel::RegionSize> gather_components(const Labelled& labelled) {
    const Communicator& communicator = labelled.labels.communicator();
    const ByRank<Labelled::Part> all = gather_lists(communicator, labelled.parts);
    std::vector<kernel::RegionSize> components;
    if (communicator.rank() == 0)
        components.resize(static_cast<std::size_t>(labelled.components));
    agree(communicator, [&] {
        for (const Labelled::Part& part : all.values) {
            check_cancelled(1);
            components[static_cast<std::size_t>(part.label - 1)].add(part.measured);
        }
    });
    return components;
}

} // namespace sextant
