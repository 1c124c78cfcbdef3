// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/agreement.hpp"
#include "sextant/compositor/tile_wall.hpp"
#include "sextant/kernel/fold/catalogue.hpp"

#include <string>
#include <vector>

#include "tests/support/agreed_failure.hpp"
#include "tests/support/blending.hpp"
#include "tests/support/group_cases.hpp"
#include <gmock/gmock.h>

// Guarantees of TileWall on any communicator: shared by the tests over threads and over MPI. Each
// function is collective.
namespace sextant::test {

/// Six tiles of uneven sizes; the last one overlaps the corner of another and is otherwise outside
/// the wall of the first five.
inline std::vector<WallTile> wall_tiles(int ranks) {
    const Rectangle areas[] = {{0, 0, 20, 11},  {20, 0, 13, 11},  {33, 0, 20, 11},
                               {0, 11, 20, 17}, {20, 11, 33, 17}, {45, 20, 30, 30}};
    std::vector<WallTile> tiles;
    for (const Rectangle& area : areas)
        tiles.push_back({area, (static_cast<int>(tiles.size()) * 3 + 1) % ranks});
    return tiles;
}

/// The area in which a rank draws; it overlaps one or several tiles, and is empty for one rank in
/// five.
inline Rectangle wall_bounds(int rank) {
    if (rank % 5 == 3)
        return {};
    return {rank * 9 % 40, rank * 5 % 17, 7 + rank * 4 % 30, 9 + rank * 3 % 20};
}

/// The pixel that a rank draws at a position of the wall.
inline RgbaF32 drawn_on_wall(int rank, std::int64_t x, std::int64_t y) {
    return wall_bounds(rank).contains(x, y) ? pixel(rank, y * 1000 + x) : RgbaF32{};
}

using WallImages = std::vector<std::vector<RgbaF32>>;

/// A rank's images of all tiles in which it draws.
inline WallImages images_on_wall(const std::vector<WallTile>& tiles, int rank) {
    WallImages images;
    for (const auto& [area, owner] : tiles) {
        images.emplace_back();
        if (!overlap(area, wall_bounds(rank)))
            continue;
        for (std::int64_t y = 0; y < area.height; ++y) {
            for (std::int64_t x = 0; x < area.width; ++x)
                images.back().push_back(drawn_on_wall(rank, area.left + x, area.top + y));
        }
    }
    return images;
}

inline std::vector<RgbaF32> expected_on_wall(const Rectangle& area, const std::vector<int>& order) {
    std::vector<RgbaF32> picture;
    for (std::int64_t y = area.top; y < area.top + area.height; ++y) {
        for (std::int64_t x = area.left; x < area.left + area.width; ++x) {
            RgbaF32 sum;
            for (const int rank : order)
                sum = kernel::over(sum, drawn_on_wall(rank, x, y));
            picture.push_back(sum);
        }
    }
    return picture;
}

inline std::span<const Frame> blend_on_wall(TileWall& wall, const WallImages& images) {
    std::vector<std::span<const std::byte>> bytes;
    for (const auto& image : images)
        bytes.push_back(std::as_bytes(std::span(image)));
    return wall.composite(bytes);
}

inline void expect_wall(const std::vector<WallTile>& tiles, std::span<const Frame> frames, int rank,
                        const std::vector<int>& order) {
    ASSERT_EQ(frames.size(), tiles.size());
    for (std::size_t t = 0; t < tiles.size(); ++t) {
        const auto pixels = frames[t].pixels<RgbaF32>();
        if (rank == tiles[t].owner) {
            EXPECT_EQ(std::vector<RgbaF32>(pixels.begin(), pixels.end()),
                      expected_on_wall(tiles[t].area, order))
                << "tile " << t;
        } else {
            EXPECT_TRUE(pixels.empty()) << "tile " << t;
        }
    }
}

inline void owners_receive_the_right_tiles(const Communicator& communicator) {
    const int ranks = communicator.size(), rank = communicator.rank();
    const std::vector<WallTile> tiles = wall_tiles(ranks);
    CompositeOptions options;
    options.algorithm = "direct-send"; // the same association as the serial fold
    for (int i = ranks; i-- > 0;)
        options.order.push_back(i);
    TileWall wall(communicator, tiles, wall_bounds(rank), options);
    const WallImages images = images_on_wall(tiles, rank);
    for (int frame = 0; frame < 3; ++frame)
        expect_wall(tiles, blend_on_wall(wall, images), rank, options.order);
}

inline void
only_ranks_with_pixels_and_the_owner_exchange_messages(const Communicator& communicator) {
    const int ranks = communicator.size(), rank = communicator.rank();
    const std::vector<WallTile> tiles = wall_tiles(ranks);
    TileWall wall(communicator, tiles, wall_bounds(rank));
    for (int t = 0; t < static_cast<int>(tiles.size()); ++t) {
        const auto& [area, owner] = tiles[static_cast<std::size_t>(t)];
        int drawing = 0;
        for (int each = 0; each < ranks; ++each)
            drawing += overlap(area, wall_bounds(each)) ? 1 : 0;
        const bool draws = overlap(area, wall_bounds(rank));
        EXPECT_EQ(wall.draws(t), draws);
        const Compositor* compositor = wall.compositor(t);
        ASSERT_EQ(compositor != nullptr, draws || rank == owner) << t;
        if (compositor) {
            EXPECT_EQ(compositor->task().positions(), drawing) << t;
            EXPECT_LE(compositor->task().ranks, drawing + 1) << t;
        }
    }
}

inline void pixels_outside_the_stated_bounds_are_detected(const Communicator& communicator) {
    const int rank = communicator.rank(), last = communicator.size() - 1;
    const std::vector<WallTile> tiles{{{0, 0, 10, 8}, 0}, {{10, 0, 6, 8}, last}};
    const Rectangle bounds{2, 1, 4, 5}; // within the first tile
    TileWall wall(communicator, tiles, bounds);
    const auto said_of = [&](std::int64_t x, std::int64_t y, bool brings_second) {
        WallImages images{std::vector<RgbaF32>(80), {}};
        if (brings_second)
            images[1].resize(48);
        const bool first = x < 10;
        if (rank == last)
            images[first ? 0 : 1][static_cast<std::size_t>(first ? y * 10 + x : y * 6 + x - 10)].a =
                .5f;
        return agreed_failure([&] { blend_on_wall(wall, images); });
    };
    const auto lie = [&](int tile, const std::string& place) {
        return "rank " + std::to_string(last) + ", tile " + std::to_string(tile) + ": pixel " +
               place + " of the wall is active, outside the declared bounds 4x5+2+1";
    };
    EXPECT_EQ(said_of(2, 1, false), "nothing");
    EXPECT_EQ(said_of(5, 5, true), "nothing") << "an empty image outside the bounds is allowed";
    EXPECT_EQ(said_of(1, 1, false), lie(0, "(1, 1)"));
    EXPECT_EQ(said_of(6, 3, false), lie(0, "(6, 3)"));
    EXPECT_EQ(said_of(3, 0, false), lie(0, "(3, 0)"));
    EXPECT_EQ(said_of(3, 6, false), lie(0, "(3, 6)"));
    EXPECT_EQ(said_of(12, 7, true), lie(1, "(12, 7)"));
    EXPECT_EQ(said_of(2, 1, false), "nothing") << "the next frame must be right again";
}

inline void invalid_walls_are_refused(const Communicator& communicator) {
    const int ranks = communicator.size(), rank = communicator.rank();
    const auto said_of = [&](const std::vector<WallTile>& tiles,
                             const CompositeOptions& options = {}) {
        return agreed_failure([&] { TileWall(communicator, tiles, {0, 0, 5, 5}, options); });
    };
    EXPECT_EQ(said_of({{{0, 0, 5, 5}, 0}, {{5, 0, 0, 5}, 0}}), "tile 1: 0x5+5+0 has no pixels");
    EXPECT_EQ(said_of({{{0, 0, 5, 5}, ranks}}), "tile 0: its owner is rank " +
                                                    std::to_string(ranks) + ", expected 0 to " +
                                                    std::to_string(ranks - 1));
    CompositeOptions unknown;
    unknown.algorithm = "direct-snd";
    EXPECT_THAT(said_of({{{0, 0, 5, 5}, 0}}, unknown),
                testing::HasSubstr("tile 0: unknown compositing algorithm 'direct-snd'"));
    if (ranks > 1) {
        EXPECT_EQ(said_of({{{0, 0, 5 + rank, 5}, 0}}), "rank 1 has different tiles from rank 0");
    }
    TileWall wall(communicator, {{{0, 0, 5, 5}, 0}}, {0, 0, 5, 5});
    EXPECT_EQ(agreed_failure([&] { blend_on_wall(wall, {std::vector<RgbaF32>(24)}); }),
              "rank 0, tile 0: an image of 384 bytes, expected 400");
}

inline std::vector<GroupCase> wall_cases() {
    return {
        GROUP_CASE(owners_receive_the_right_tiles),
        GROUP_CASE(only_ranks_with_pixels_and_the_owner_exchange_messages),
        GROUP_CASE(pixels_outside_the_stated_bounds_are_detected),
        GROUP_CASE(invalid_walls_are_refused),
    };
}

} // namespace sextant::test
