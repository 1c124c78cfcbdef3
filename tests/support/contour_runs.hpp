// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/contours/contour_merging.hpp"

#include "tests/support/direction_maps.hpp"
#include "tests/support/label_references.hpp"
#include <fmt/format.h>
#include <gtest/gtest.h>

// Contours of images in tiles on any communicator: shared by the tests over threads and over MPI.
namespace sextant::test {

/// A copy of the directions in a part of a map.
inline DirectionMap cut(const DirectionMap& map, const Tile& tile) {
    DirectionMap part = no_directions(map.name, {tile.width, tile.height});
    for (Elements y = 0; y < tile.height; ++y) {
        for (Elements x = 0; x < tile.width; ++x)
            part.at(x, y) =
                map.codes[static_cast<std::size_t>((tile.y + y) * map.image.width + tile.x + x)];
    }
    return part;
}

inline Tile with_margin(const Tile& tile, Elements margin, ImageShape image) {
    const Elements left = std::max<Elements>(tile.x - margin, 0);
    const Elements top = std::max<Elements>(tile.y - margin, 0);
    return {left, top, std::min(tile.x + tile.width + margin, image.width) - left,
            std::min(tile.y + tile.height + margin, image.height) - top};
}

inline void apply_to_tile(kernel::ContourRanking& ranking, const DirectionMap& map,
                          const Grid& grid, int rank) {
    const Tile own = tile(grid, rank);
    if (own.elements() == 0)
        return ranking.apply({nullptr, 0, own, map.image}, own);
    const Tile read = with_margin(own, 2, map.image);
    const DirectionMap part = cut(map, read);
    ranking.apply({part.codes.data(), read.width, read, map.image}, own);
}

/// Expects the heads and ranks in this rank's tile to equal those of a serial traversal of the
/// whole image.
inline void gives_the_serial_contours(const Communicator& communicator, const DirectionMap& map,
                                      const Grid& grid, const contour::Pattern& pattern,
                                      const std::vector<kernel::Ranked>& expected) {
    const int rank = communicator.rank();
    const Tile own = tile(grid, rank);
    kernel::ContourRanking ranking;
    apply_to_tile(ranking, map, grid, rank);
    const ContoursOfTile found = merge_contours(communicator, grid, ranking, pattern);
    std::vector<std::int32_t> contours(static_cast<std::size_t>(own.elements())), ranks = contours;
    ranking.write(found.placings, {contours.data(), ranks.data(), own.width});
    for (Elements y = 0; y < own.height; ++y) {
        for (Elements x = 0; x < own.width; ++x) {
            const auto i = static_cast<std::size_t>(y * own.width + x);
            const auto pixel = static_cast<std::size_t>((own.y + y) * map.image.width + own.x + x);
            const Elements head =
                contours[i] < 0 ? -1 : found.heads[static_cast<std::size_t>(contours[i])];
            ASSERT_TRUE(head == expected[pixel].head && ranks[i] == expected[pixel].rank)
                << fmt::format("{} of {}x{} in {}x{} tiles by {}, rank {}: pixel ({}, {}) has rank "
                               "{} on the contour to {}, expected {} and {}",
                               map.name, map.image.width, map.image.height, grid.columns, grid.rows,
                               pattern.name, rank, own.x + x, own.y + y, ranks[i], head,
                               expected[pixel].rank, expected[pixel].head);
        }
    }
}

/// Grids with one tile per rank: nearly square, a row and a column.
inline std::vector<Grid> grids_of(int ranks, ImageShape image) {
    std::vector<Grid> grids{near_square(ranks, image.width, image.height)};
    if (grids[0].rows > 1)
        grids.push_back({image.width, image.height, grids[0].rows, grids[0].columns});
    grids.push_back({image.width, image.height, ranks, 1});
    grids.push_back({image.width, image.height, 1, ranks});
    return grids;
}

/// Tests every map, pattern and grid for the communicator's ranks, or every n-th combination.
inline void every_pattern_gives_the_serial_contours(const Communicator& communicator,
                                                    ImageShape image, int every = 1) {
    int turn = 0;
    for (const DirectionMap& map : direction_maps(image)) {
        const std::vector<kernel::Ranked> expected = kernel::contours_reference(map.view());
        for (const Grid& grid : grids_of(communicator.size(), image)) {
            for (const contour::Pattern& pattern : contour::catalogue()) {
                if (turn++ % every == 0)
                    gives_the_serial_contours(communicator, map, grid, pattern, expected);
            }
        }
    }
}

} // namespace sextant::test
