// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/halo/exchange.hpp"

#include "sextant/schedule/dependences.hpp"

#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/halo_case.hpp"
#include <gmock/gmock.h>

namespace sextant::halo {
namespace {

const std::vector<Grid>& grids = test::halo_grids;
const test::Halo by_axis{axis_exchange, clipped_tile};

Symbol pixel(const Grid& grid, const Tile& held, Elements place) {
    const Elements x = held.x + place % held.width, row = place / held.width;
    const Elements y = held.y + row % held.height, z = held.z + row / held.height;
    return {(z * grid.height + y) * grid.width + x, 0, 1, 0};
}

test::Case frame_case(const Grid& grid) {
    Claim claim;
    claim.given = [=](int rank, int buffer, Elements e) {
        return buffer == 0 ? pixel(grid, tile(grid, rank), e) : Symbol{};
    };
    claim.wanted = test::exactly([=](int rank) {
        std::vector<Symbol> symbols;
        for (const Tile& band : frame_of(grid, rank)) {
            for (Elements e = 0; e < band.elements(); ++e)
                symbols.push_back(pixel(grid, band, e));
        }
        return symbols;
    });
    return {"frames of " + test::name_of(grid),
            make_schedule(grid.ranks(), [&](int rank) { return frame_exchange(grid, rank); }),
            claim};
}

/// The same halo by each pattern of exchange.
std::vector<test::Case> cases_of(const Grid& grid) {
    return {test::halo_case(grid), test::halo_case(grid, by_axis), frame_case(grid)};
}

/// All grids of images, and those of volumes on 1 to 64 ranks.
std::vector<Grid> all_grids() {
    std::vector<Grid> all = test::all_halo_grids();
    test::for_each_volume_grid(1, 64, [&](const Grid& grid) { all.push_back(grid); });
    return all;
}

TEST(HaloExchanges, fill_every_margin_inside_the_image_and_nothing_else) {
    for (const Grid& grid : all_grids()) {
        for (const test::Case& c : cases_of(grid))
            EXPECT_EQ(prove(c.schedule, c.claim).error, "") << c.name;
    }
}

TEST(HaloExchange, fetches_pixels_from_beyond_the_neighbours_for_wide_margins) {
    const Grid grid{20, 3, 10, 1, 5}; // tiles of 2 x 3, in a row
    EXPECT_EQ(test::proved(test::halo_case(grid)).most_messages, 6);
}

TEST(HaloExchange, of_a_volume_sends_to_at_most_26_neighbours_and_only_the_border) {
    const Grid grid{{40, 60, 4, 6, 30, 3}, {2, 2, 2}}; // boxes of 10 x 10 x 10
    const Proof proof = test::proved(test::halo_case(grid));
    EXPECT_EQ(proof.most_messages, 26);
    EXPECT_EQ(proof.most_moved, 14 * 14 * 14 - 10 * 10 * 10);
}

TEST(HaloExchange, sends_one_message_to_each_of_at_most_eight_neighbours) {
    for (const Grid& grid : grids) {
        if (grid.margin.x == 0)
            continue;
        const Proof proof = test::proved(test::halo_case(grid));
        const int across = (grid.columns - 1) * grid.rows, down = grid.columns * (grid.rows - 1);
        const int diagonal = 2 * (grid.columns - 1) * (grid.rows - 1);
        EXPECT_EQ(proof.messages, 2 * (across + down + diagonal));
        EXPECT_LE(proof.most_messages, 8);
        EXPECT_EQ(proof.applications, 0);
    }
}

TEST(HaloExchange, sends_only_the_border_strips_and_corners) {
    const Grid grid{40, 60, 4, 6, 2}; // tiles of 10 x 10
    const Proof proof = test::proved(test::halo_case(grid));
    EXPECT_EQ(proof.most_moved, 4 * 2 * 10 + 4 * 2 * 2);
}

TEST(HaloExchange, without_a_margin_sends_nothing) {
    for (int rank = 0; rank < 15; ++rank) {
        EXPECT_TRUE(exchange({26, 27, 3, 5, 0}, rank).steps.empty());
    }
}

TEST(HaloExchange, has_no_dependences_between_messages) {
    for (const Grid& grid : grids) {
        for (int rank = 0; rank < grid.columns * grid.rows; ++rank) {
            EXPECT_EQ(Dependences(exchange(grid, rank)).edges(), 0u);
        }
    }
}

TEST(AxisExchange, of_a_volume_sends_at_most_six_messages_per_rank) {
    const Grid grid{{40, 60, 4, 6, 30, 3}, {2, 2, 2}}; // boxes of 10 x 10 x 10
    const Proof proof = test::proved(test::halo_case(grid, by_axis));
    EXPECT_EQ(proof.most_messages, 6);
    EXPECT_EQ(proof.most_moved, 2 * 2 * (10 * 10 + 14 * 10 + 14 * 14));
}

TEST(AxisExchange, sends_at_most_four_messages_per_rank_and_moves_corners_twice) {
    const Grid grid{40, 60, 4, 6, 2}; // tiles of 10 x 10
    const Proof proof = test::proved(test::halo_case(grid, by_axis));
    EXPECT_EQ(proof.messages, 2 * (3 * 6 + 4 * 5));
    EXPECT_EQ(proof.most_messages, 4);
    EXPECT_EQ(proof.most_moved, 2 * 2 * 10 + 2 * 2 * 14);
}

TEST(AxisExchange, has_one_direction_per_round_and_completes_each_round_before_the_next) {
    const Grid grid{26, 27, 4, 4, 2};
    const Program middle = axis_exchange(grid, 5);
    EXPECT_EQ(middle.window, 1);
    ASSERT_EQ(middle.steps.size(), 8u);
    for (int i = 0; i < 8; ++i)
        EXPECT_EQ(middle.steps[static_cast<std::size_t>(i)].round, i / 2);
}

TEST(AxisExchange, sends_rows_contiguously_and_columns_strided) {
    for (const Grid& grid : {Grid{{26, 27, 4, 4}, 2}, Grid{{4, 27, 1, 9}, 2}}) {
        for (int rank = 0; rank < grid.ranks(); ++rank) {
            const Program program = axis_exchange(grid, rank);
            for (const Step& step : program.steps) {
                EXPECT_EQ(program.regions_of(step)[0].contiguous(), step.round >= 2) << rank;
            }
        }
    }
}

TEST(FrameExchange, has_disjoint_bands_that_cover_the_margin) {
    std::vector<Grid> all = test::all_halo_grids();
    test::for_each_volume_grid(24, 24, [&](const Grid& grid) { all.push_back(grid); });
    for (const Grid& grid : all) {
        for (int rank = 0; rank < grid.ranks(); ++rank) {
            const Tile own = tile(grid, rank), held = clipped_tile(grid, rank);
            const Frame frame = frame_of(grid, rank);
            Elements elements = own.elements();
            for (const Tile& band : frame) {
                elements += band.elements();
                EXPECT_EQ(common(band, held).elements(), band.elements());
                for (const Tile& other : frame)
                    EXPECT_TRUE(&other == &band || common(band, other).elements() == 0);
                EXPECT_EQ(common(band, own).elements(), 0);
            }
            EXPECT_EQ(elements, held.elements());
        }
    }
}

TEST(FrameExchange, sends_the_same_messages_as_an_exchange_of_whole_tiles) {
    for (const Grid& grid : test::all_halo_grids()) {
        const Proof frames = test::proved(frame_case(grid));
        const Proof wholes = test::proved(test::halo_case(grid, {exchange, padded_tile}));
        EXPECT_EQ(frames.messages, wholes.messages);
        EXPECT_EQ(frames.most_moved, wholes.most_moved);
    }
}

TEST(HaloTiles, cover_the_image_once_row_by_row) {
    for (const Grid& grid : grids) {
        std::vector<int> owners(static_cast<std::size_t>(grid.width * grid.height), 0);
        for (int rank = 0; rank < grid.columns * grid.rows; ++rank) {
            const Tile own = tile(grid, rank);
            for (Elements y = own.y; y < own.y + own.height; ++y) {
                for (Elements x = own.x; x < own.x + own.width; ++x) {
                    ++owners[static_cast<std::size_t>(y * grid.width + x)];
                }
            }
        }
        EXPECT_THAT(owners, testing::Each(1));
    }
    for (const Grid& grid : {Grid{{7, 5, 3, 2, 6, 4}}, Grid{{2, 3, 4, 1, 5, 7}}}) {
        std::vector<int> owners(static_cast<std::size_t>(grid.elements()), -1);
        for (int rank = 0; rank < grid.ranks(); ++rank) {
            for (const Region& region :
                 places_in({0, 0, grid.width, grid.height, 0, grid.depth}, tile(grid, rank), 0)) {
                for (Elements e = 0; e < region.elements(); ++e) {
                    EXPECT_EQ(std::exchange(owners[static_cast<std::size_t>(region.at(e))], rank),
                              -1);
                }
            }
        }
        for (Elements e = 0; e < grid.elements(); ++e)
            EXPECT_EQ(owners[static_cast<std::size_t>(e)],
                      rank_at(grid, e % grid.width, e / grid.width % grid.height,
                              e / grid.width / grid.height));
    }
    EXPECT_EQ(tile({9, 15, 3, 5}, 4).x, 3);
    EXPECT_EQ(tile({9, 15, 3, 5}, 4).y, 3);
}

TEST(Regions, of_a_part_describe_the_part) {
    const Tile held{3, 4, 5, 6, 7, 8};
    for (const Tile& part :
         {held, Tile{3, 4, 5, 6, 8, 3}, Tile{3, 5, 5, 2, 7, 8}, Tile{4, 4, 2, 6, 9, 4},
          Tile{4, 6, 3, 2, 8, 5}, Tile{4, 9, 1, 1, 10, 1}, Tile{3, 4, 5, 1, 7, 1},
          Tile{5, 5, 1, 5, 7, 8}}) {
        const std::vector<Region> rows = rows_in(held, part, 0);
        const Tile found = part_in(held, rows[0], rows.size());
        EXPECT_EQ(std::tie(found.x, found.y, found.z), std::tie(part.x, part.y, part.z));
        EXPECT_EQ(std::tie(found.width, found.height, found.depth),
                  std::tie(part.width, part.height, part.depth));
    }
    EXPECT_TRUE(rows_in(held, {3, 4, 5, 6, 7, 0}, 0).empty());
    EXPECT_TRUE(places_in(held, {3, 4, 0, 6, 7, 2}, 0).empty());
}

} // namespace
} // namespace sextant::halo
