// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/thread_team.hpp"
#include "sextant/core/error.hpp"
#include "sextant/mosaic/tile_registration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/mosaic/scan.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::mosaic {
namespace {

using test::Scan;
using test::ScanOptions;

TileResult registered(const Scan& scan, const TileOptions& options = {}) {
    return register_tiles(scan.tile, scan.stage, scan.reading(), options);
}

TEST(Mosaic, finds_neighbours_from_the_positions_of_the_stage) {
    const std::vector<Point> grid{{0, 0}, {90, 0}, {180, 0}, {0, 90}, {90, 90}, {180, 90}};
    std::vector<std::pair<int, int>> pairs;
    for (const Neighbours& pair : neighbours_of(grid, {100, 100}, 8)) {
        pairs.emplace_back(pair.a, pair.b);
        EXPECT_EQ(pair.expected,
                  grid[static_cast<std::size_t>(pair.b)] - grid[static_cast<std::size_t>(pair.a)]);
    }
    EXPECT_THAT(pairs, testing::ElementsAre(std::pair(0, 1), std::pair(1, 2), std::pair(0, 3),
                                            std::pair(1, 3), std::pair(0, 4), std::pair(1, 4),
                                            std::pair(2, 4), std::pair(3, 4), std::pair(1, 5),
                                            std::pair(2, 5), std::pair(4, 5)));
    EXPECT_EQ(neighbours_of(grid, {100, 100}, 11).size(), 0);
}

TEST(Mosaic, registers_tiles_to_a_fraction_of_a_pixel) {
    for (unsigned seed = 1; seed <= 3; ++seed) {
        const Scan scan({.seed = seed});
        const TileResult result = registered(scan);
        EXPECT_EQ(result.positions.islands, 1);
        for (const double error : scan.errors(result.positions.at))
            EXPECT_LT(error, .3) << seed;
        EXPECT_THAT(result.flags, testing::Each(TileFlag::none));
        EXPECT_NEAR(result.positions.stage_error, 4, 2.5);
    }
}

TEST(Mosaic, has_the_same_bits_for_all_threads_and_memories) {
    const Scan scan({.columns = 3, .vignetting = .1});
    const TileResult one = registered(scan);
    for (const int threads : {1, 2, 3}) {
        for (const Bytes memory : {Bytes{1}, Bytes{1} << 30}) {
            const TileResult other = registered(scan, {.threads = threads, .memory = memory});
            EXPECT_EQ(other.positions.at, one.positions.at);
            EXPECT_EQ(other.positions.covariance, one.positions.covariance);
            EXPECT_EQ(other.flags, one.flags);
        }
    }
}

TEST(Mosaic, reads_each_tile_once_per_pass_if_the_memory_holds_a_row) {
    const Scan scan({.columns = 5, .rows = 4});
    const Bytes tile = scan.tile.elements() * static_cast<Bytes>(sizeof(float));
    TileOptions options;
    options.flat = false;
    options.memory = 7 * tile;
    EXPECT_EQ(registered(scan, options).tiles_read, 2 * 20);
    options.memory = 4 * tile;
    EXPECT_GT(registered(scan, options).tiles_read, 2 * 20);
}

TEST(Mosaic, estimates_the_flat_field) {
    const ScanOptions options{.columns = 5, .rows = 5, .vignetting = .15};
    const Scan scan(options);
    Team team(2);
    const FlatField flat = estimate_flat_field(scan.tile, 25, scan.reading(), team);
    const double middle = flat.at(64, 64);
    for (const auto& [x, y] :
         {std::pair(2, 2), std::pair(125, 64), std::pair(64, 10), std::pair(120, 120)})
        EXPECT_NEAR(flat.at(x, y) / middle, Scan::brightness(options, x, y), .03);
    EXPECT_NEAR(flat.range(), 1 / (1 - .3), .08);
    std::vector<float> ones(static_cast<std::size_t>(scan.tile.elements()), 1);
    flat.correct(ones);
    EXPECT_NEAR(ones[0] * flat.at(0, 0), 1, 1e-5);
    // Too few tiles, or a detector that counts from less than 0.
    EXPECT_TRUE(estimate_flat_field(scan.tile, 8, scan.reading(), team).is_even());
    const ReadTile negative = [](int, std::span<float> to, int) { std::ranges::fill(to, -1.F); };
    EXPECT_TRUE(estimate_flat_field(scan.tile, 25, negative, team).is_even());
}

TEST(Mosaic, vignetting_does_not_move_tiles) {
    const Scan scan({.columns = 5, .rows = 4, .vignetting = .15});
    for (const double error : scan.errors(registered(scan).positions.at))
        EXPECT_LT(error, .3);
}

TEST(Mosaic, knows_the_levels_of_tiles) {
    Scan scan({.columns = 4, .rows = 4, .vignetting = .1});
    std::vector<double> gains;
    for (std::size_t i = 0; i < scan.samples.size(); ++i) {
        gains.push_back(.8 + .05 * static_cast<double>(i * 7 % 11));
        for (float& sample : scan.samples[i])
            sample *= static_cast<float>(gains.back());
    }
    const TileResult result = registered(scan);
    const double first = result.levels[0] / gains[0];
    for (std::size_t i = 0; i < gains.size(); ++i)
        EXPECT_NEAR(result.levels[i] / gains[i] / first, 1, .02) << i;
    for (const double error : scan.errors(result.positions.at))
        EXPECT_LT(error, .3);
}

TEST(Mosaic, flags_tiles_that_are_empty_or_belong_elsewhere) {
    Scan scan({.columns = 5, .rows = 4});
    std::ranges::fill(scan.samples[7], 500.F);
    std::swap(scan.samples[3], scan.samples[16]);
    const TileResult result = registered(scan);
    const std::vector<double> errors = scan.errors(result.positions.at);
    for (std::size_t i = 0; i < errors.size(); ++i) {
        if (i == 7 || i == 3 || i == 16) {
            EXPECT_EQ(result.flags[i], TileFlag::alone) << i;
        } else {
            EXPECT_EQ(result.flags[i], TileFlag::none) << i;
            EXPECT_LT(errors[i], .3) << i;
        }
    }
    for (const Link& link : result.links) {
        if (link.offset.a == 7 || link.offset.b == 7) {
            EXPECT_NE(link.state, LinkState::found);
        }
    }
}

TEST(Mosaic, of_a_lattice_has_no_wrong_tile_without_a_flag) {
    for (unsigned seed = 1; seed <= 4; ++seed) {
        Scan scan({.columns = 5, .rows = 4, .side = 192, .seed = seed, .lattice = true});
        std::swap(scan.samples[7], scan.samples[16]);
        const TileResult result = registered(scan, {.threads = 2});
        const std::vector<double> errors = scan.errors(result.positions.at);
        for (std::size_t i = 0; i < errors.size(); ++i) {
            const bool is_wrong = i == 7 || i == 16 || errors[i] > .5;
            EXPECT_TRUE(!is_wrong || result.flags[i] != TileFlag::none) << seed << ", tile " << i;
        }
        EXPECT_LT(std::ranges::count_if(result.flags, [](auto f) { return f != TileFlag::none; }),
                  7);
    }
}

TEST(Mosaic, ignores_missing_samples) {
    Scan scan;
    for (std::vector<float>& samples : scan.samples)
        std::fill_n(samples.begin() + 60 * 128, 3 * 128, std::numeric_limits<float>::quiet_NaN());
    for (const double error : scan.errors(registered(scan).positions.at))
        EXPECT_LT(error, .3);
}

TEST(Mosaic, of_one_tile_is_where_the_stage_says) {
    const Scan scan({.columns = 1, .rows = 1});
    const TileResult result = registered(scan);
    EXPECT_EQ(result.positions.at[0], scan.stage[0]);
    EXPECT_EQ(result.flags[0], TileFlag::none);
    EXPECT_TRUE(result.links.empty());
}

TEST(Mosaic, refuses_what_is_no_mosaic) {
    const ReadTile read = [](int, std::span<float>, int) {};
    const auto refused = [&](ImageShape tile, std::vector<Point> stage) {
        EXPECT_THROW(register_tiles(tile, stage, read, {}), InvalidTask);
    };
    refused({64, 64}, {});
    refused({15, 64}, {{0, 0}});
    refused({64, 64}, {{0, 0}, {std::numeric_limits<double>::quiet_NaN(), 0}});
}

TEST(Mosaic, passes_on_errors_of_reading_and_cancellation) {
    const Scan scan;
    const ReadTile damaged = [&](int tile, std::span<float> to, int thread) {
        if (tile == 5)
            throw InvalidFile("tile_5.tif", "is truncated");
        scan.reading()(tile, to, thread);
    };
    EXPECT_THROW(register_tiles(scan.tile, scan.stage, damaged, {.threads = 2}), InvalidFile);
    RunControl control;
    control.cancelled = [] { return true; };
    EXPECT_THROW(register_tiles(scan.tile, scan.stage, scan.reading(), {}, control), Cancelled);
}

} // namespace
} // namespace sextant::mosaic
