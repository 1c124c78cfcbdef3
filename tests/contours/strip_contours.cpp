// SPDX-License-Identifier: BSD-3-Clause
// Contours and edges found strip by strip, over threads, must equal those of the whole image,
// wherever lines cross the seams.
#include "sextant/contours/strip_contours.hpp"

#include "sextant/comm/threads.hpp"
#include "sextant/contours/canny.hpp"
#include "sextant/kernel/edge/edge_detector.hpp"

#include "tests/command/gray_files.hpp"
#include "tests/format/temporary_folder.hpp"
#include "tests/support/tracing_runs.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using distributed::BytePlane;
using distributed::PointOrder;
using distributed::StripTiles;
using distributed::StripWork;

/// Divisions into strips for this number of ranks, on every grid of grids_of().
std::vector<distributed::StripTiles> strips_of(int ranks, ImageShape image) {
    std::vector<distributed::StripTiles> made;
    for (const int strips : {2, 3, 5, 8}) {
        for (const Grid& grid : grids_of(ranks, image))
            made.push_back({{image.width, image.height, grid.columns, grid.rows * strips}, strips});
    }
    return made;
}

/// The context needed to process strips, with temporary files.
struct Workplace {
    Workplace(const Communicator& ranks, const distributed::StripTiles& strips,
              const TemporaryFolder& folder)
        : communicator(ranks), tiles(strips), scratch(folder.path("out")) {}
    Communicator communicator;
    distributed::StripTiles tiles;
    std::string scratch;
    RunControl control;
    distributed::StripWork work{communicator, tiles, scratch, control};
};

/// Expects a map in strips to give the lines of a serial traversal of the whole image.
void strips_give_the_serial_lines(const Communicator& communicator, const DirectionMap& map,
                                  const distributed::StripTiles& tiles,
                                  const TemporaryFolder& folder) {
    Workplace place(communicator, tiles, folder);
    const auto directions = [&](int strip) {
        const Tile own = tiles.tile(strip, communicator.rank());
        return cut(map, with_margin(own, distributed::ranking_margin, map.image)).codes;
    };
    // Memory is so small that points are sorted in many runs.
    distributed::PointOrder points(place.scratch, 7 * sizeof(distributed::RankedPoint));
    distributed::rank_strips(place.work, directions, communicator.rank() == 0 ? &points : nullptr);
    if (communicator.rank() != 0)
        return;
    constexpr Elements min_points = 2;
    points.finish(min_points);
    expect_same(read_lines(*points.reader(map.image)), lines_of_walk(map, min_points),
                fmt::format("{} of {}x{} in {} strips of {}x{} tiles", map.name, map.image.width,
                            map.image.height, tiles.strips, tiles.grid.columns,
                            tiles.grid.rows / tiles.strips));
}

TEST(ContourStrips, give_the_contour_lines_of_serial_tracing_for_every_edge_map) {
    const TemporaryFolder folder;
    for (const int ranks : {1, 2, 3}) {
        run_threads(ranks, [&](Communicator communicator) {
            int turn = 0;
            for (const ImageShape image : {ImageShape{13, 22}, {5, 40}, {17, 3}}) {
                for (const DirectionMap& map : direction_maps(image)) {
                    for (const distributed::StripTiles& tiles : strips_of(ranks, image)) {
                        if (turn++ % (2 * ranks - 1) == 0)
                            strips_give_the_serial_lines(communicator, map, tiles, folder);
                    }
                }
            }
        });
    }
    EXPECT_EQ(folder.entries(), 0);
}

TEST(ContourStrips, have_the_edge_directions_of_the_whole_image) {
    const TemporaryFolder folder;
    const ImageShape image{61, 97};
    const std::vector<std::uint8_t> samples = waves(image);
    for (const int ranks : {1, 3}) {
        run_threads(ranks, [&](Communicator communicator) {
            RowSource source = source_of(image, samples);
            const Grid whole{image.width, image.height, 1, ranks};
            const distributed::Image in_memory =
                distributed::read_tiles(communicator, whole, source);
            const kernel::EdgeThresholds thresholds = quantiles_of(in_memory, 1.5, .6, .9);
            const sextant::Image expected = distributed::gather(edge_directions(
                in_memory, 1.5, thresholds, always(contour::find("logp-lev-quad"))));
            for (const distributed::StripTiles& tiles : strips_of(ranks, image)) {
                Workplace place(communicator, tiles, folder);
                const kernel::EdgeThresholds found =
                    distributed::strip_quantiles(place.work, source, 1.5, .6, .9);
                EXPECT_EQ(found.low, thresholds.low);
                EXPECT_EQ(found.high, thresholds.high);
                const distributed::BytePlane edges = distributed::strip_thinning(
                    place.work, distributed::strip_edges(place.work, source, 1.5, thresholds));
                const distributed::StripDirections directions = directions_of(place.work, edges);
                for (int strip = 0; strip < tiles.strips; ++strip) {
                    const Tile own = tiles.tile(strip, communicator.rank());
                    const Tile held = with_margin(own, distributed::ranking_margin, image);
                    const std::vector<kernel::Direction> codes = directions(strip);
                    for (Elements i = 0; i < held.elements() && communicator.rank() == 0; ++i) {
                        const Elements x = held.x + i % held.width, y = held.y + i / held.width;
                        ASSERT_EQ(codes[static_cast<std::size_t>(i)],
                                  expected.pixels<kernel::Direction>()[static_cast<std::size_t>(
                                      y * image.width + x)])
                            << fmt::format("({}, {}) in {} strips", x, y, tiles.strips);
                    }
                }
            }
        });
    }
}

/// An image of edge pixels with some holes, so that thinning takes as many rounds as the regions
/// are thick.
std::vector<std::uint8_t> thick_codes(ImageShape image) {
    std::vector<std::uint8_t> codes;
    for (Elements i = 0; i < image.elements(); ++i) {
        const Elements x = i % image.width, y = i / image.width;
        codes.push_back((x / 3 + y * 5) % 37 == 0 ? 0 : kernel::weak_edge);
    }
    return codes;
}

TEST(ContourStrips, thin_thick_regions_in_repeated_rounds) {
    const TemporaryFolder folder;
    const ImageShape image{40, 53};
    const Tile all{0, 0, image.width, image.height};
    std::vector<std::uint8_t> expected = thick_codes(image);
    kernel::Thinning thinning(expected.data(), all, all, image);
    int needed = 1;
    while (thinning.round() > 0)
        ++needed;
    EXPECT_GT(needed, 3) << "otherwise one pass over each strip would suffice";
    for (const int ranks : {1, 2}) {
        run_threads(ranks, [&](Communicator communicator) {
            for (const distributed::StripTiles& tiles : strips_of(ranks, image)) {
                Workplace place(communicator, tiles, folder);
                const auto own_part = [&](const std::vector<std::uint8_t>& codes, int strip) {
                    const Tile own = tiles.tile(strip, communicator.rank());
                    std::vector<std::uint8_t> part;
                    for (Elements i = 0; i < own.elements(); ++i)
                        part.push_back(codes[static_cast<std::size_t>(
                            (own.y + i / own.width) * image.width + own.x + i % own.width)]);
                    return part;
                };
                distributed::BytePlane codes(communicator, tiles, place.scratch);
                for (int strip = 0; strip < tiles.strips; ++strip)
                    codes.write(strip, own_part(thick_codes(image), strip));
                const distributed::BytePlane thinned =
                    distributed::strip_thinning(place.work, std::move(codes), 1 + ranks);
                for (int strip = 0; strip < tiles.strips; ++strip)
                    EXPECT_EQ(thinned.read(strip, 0), own_part(expected, strip))
                        << "strip " << strip << " of " << tiles.strips;
            }
        });
    }
}

} // namespace
} // namespace sextant::test
