// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/contours/contour_merging.hpp"

#include <algorithm>
#include <map>

#include "tests/support/contour_runs.hpp"

// Linear representations on any communicator: shared by the tests over threads and over MPI.
namespace sextant::test {

/// Contours from a serial traversal of the whole image, ordered by head, their points by rank.
inline ContourLines lines_of_walk(const DirectionMap& map, Elements min_points) {
    const std::vector<kernel::Ranked> ranked = kernel::contours_reference(map.view());
    std::map<Elements, std::vector<std::pair<Elements, Elements>>> contours;
    for (Elements pixel = 0; pixel < map.image.elements(); ++pixel) {
        const kernel::Ranked& at = ranked[static_cast<std::size_t>(pixel)];
        if (at.head >= 0)
            contours[at.head].emplace_back(at.rank, pixel);
    }
    ContourLines lines{map.image, {}, {}};
    for (auto& [head, points] : contours) {
        if (static_cast<Elements>(points.size()) < min_points)
            continue;
        std::sort(points.begin(), points.end());
        const bool closed =
            map.codes[static_cast<std::size_t>(head)] >= 0 && points.size() > 1 && [&] {
                const kernel::Step step = kernel::steps[map.codes[static_cast<std::size_t>(head)]];
                return head + step.y * map.image.width + step.x == points.back().second;
            }();
        lines.lines.push_back({static_cast<Elements>(lines.pixels.size()),
                               static_cast<Elements>(points.size()), closed});
        for (const auto& [rank, pixel] : points)
            lines.pixels.push_back(pixel);
    }
    return lines;
}

inline void expect_same(const ContourLines& found, const ContourLines& expected,
                        const std::string& what) {
    EXPECT_EQ(found.pixels, expected.pixels) << what;
    ASSERT_EQ(found.lines.size(), expected.lines.size()) << what;
    for (std::size_t i = 0; i < found.lines.size(); ++i) {
        EXPECT_EQ(found.lines[i].first, expected.lines[i].first) << what;
        EXPECT_EQ(found.lines[i].points, expected.lines[i].points) << what;
        EXPECT_EQ(found.lines[i].closed, expected.lines[i].closed) << what;
    }
}

inline void gives_the_serial_lines(const Communicator& communicator, const Grid& grid,
                                   const DirectionMap& map, Elements min_points) {
    kernel::ContourRanking ranking;
    apply_to_tile(ranking, map, grid, communicator.rank());
    const ContoursOfTile found =
        merge_contours(communicator, grid, ranking, contour::catalogue()[2]);
    const LinearPart part = linearize(communicator, grid, ranking, found, min_points);
    const ContourLines expected = lines_of_walk(map, min_points);
    const std::string what =
        fmt::format("{} of {}x{} in {}x{} tiles, from {} points on", map.name, grid.width,
                    grid.height, grid.columns, grid.rows, min_points);
    const Tile own =
        tile(strips(communicator.size(), static_cast<Elements>(expected.pixels.size())),
             communicator.rank());
    ASSERT_EQ(part.first, own.y) << what;
    ASSERT_EQ(part.contours, static_cast<Elements>(expected.lines.size())) << what;
    const auto begin = expected.pixels.begin() + own.y;
    EXPECT_EQ(part.pixels, std::vector<Elements>(begin, begin + own.height)) << what;
    const ContourLines all = gather_lines(communicator, grid, part);
    if (communicator.rank() != 0)
        return;
    expect_same(all, expected, what);
}

/// Tests every map on every grid for the communicator's ranks, or every n-th combination.
inline void every_map_gives_the_serial_lines(const Communicator& communicator, ImageShape image,
                                             int every = 1) {
    int turn = 0;
    for (const DirectionMap& map : direction_maps(image)) {
        for (const Grid& grid : grids_of(communicator.size(), image)) {
            for (const Elements min_points : {1, 5}) {
                if (turn++ % every == 0)
                    gives_the_serial_lines(communicator, grid, map, min_points);
            }
        }
    }
}

} // namespace sextant::test
