// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/halo/exchange.hpp"

#include <vector>

#include "tests/support/halo_case.hpp"
#include <gtest/gtest.h>

namespace sextant::halo {
namespace {

const std::vector<Grid> grids = test::all_halo_grids();

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

TEST(FrameExchange, fetches_the_margin_of_each_tile_and_leaves_the_tile_in_place) {
    for (const Grid& grid : grids) {
        const test::Case c = frame_case(grid);
        EXPECT_EQ(prove(c.schedule, c.claim).error, "") << c.name;
    }
}

TEST(FrameExchange, is_proved_for_every_grid_of_a_volume_of_1_to_64_ranks) {
    test::for_each_volume_grid(1, 64, [](const Grid& grid) {
        const test::Case c = frame_case(grid);
        EXPECT_EQ(prove(c.schedule, c.claim).error, "") << c.name;
    });
}

TEST(FrameExchange, has_disjoint_bands_that_cover_the_margin) {
    std::vector<Grid> all = grids;
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
    for (const Grid& grid : grids) {
        const Proof frames = test::proved(frame_case(grid));
        const Proof wholes = test::proved(test::halo_case(grid, {exchange, padded_tile}));
        EXPECT_EQ(frames.messages, wholes.messages);
        EXPECT_EQ(frames.most_moved, wholes.most_moved);
    }
}

} // namespace
} // namespace sextant::halo
