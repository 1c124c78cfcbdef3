// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/mosaic/positions.hpp"

#include "sextant/core/error.hpp"

#include <cmath>
#include <random>

#include <Eigen/Dense>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::mosaic {
namespace {

/// Tiles on a grid, with offsets between neighbours along both axes.
struct Grid {
    std::vector<Point> truth, stage;
    std::vector<Offset> offsets;

    Grid(int columns, int rows, double sigma, double stage_error, unsigned seed) : random(seed) {
        for (int row = 0; row < rows; ++row) {
            for (int column = 0; column < columns; ++column) {
                stage.push_back({100. * column, 90. * row});
                truth.push_back(stage.back() + noise(stage_error));
                const int own = row * columns + column;
                if (column > 0)
                    link(own - 1, own, sigma);
                if (row > 0)
                    link(own - columns, own, sigma);
            }
        }
    }

    Point noise(double sigma) {
        const double x = sigma * normal(random), y = sigma * normal(random);
        return {x, y};
    }

    /// The errors of both axes are correlated.
    void link(int a, int b, double sigma) {
        const Point error = noise(sigma);
        const Point offset =
            truth[static_cast<std::size_t>(b)] - truth[static_cast<std::size_t>(a)];
        offsets.push_back({a,
                           b,
                           offset + Point{error.x, .5 * error.x + error.y},
                           {sigma * sigma, .5 * sigma * sigma, 1.25 * sigma * sigma}});
    }

    std::mt19937_64 random;
    std::normal_distribution<double> normal;
};

/// The RMS over tiles of the errors relative to the mean, in standard deviations.
double deviations(const Grid& grid, const Positions& found) {
    Point mean;
    const auto tiles = static_cast<double>(grid.truth.size());
    for (std::size_t i = 0; i < grid.truth.size(); ++i) {
        const Point error = found.at[i] - grid.truth[i];
        mean = mean + Point{error.x / tiles, error.y / tiles};
    }
    double sum = 0;
    for (std::size_t i = 0; i < grid.truth.size(); ++i)
        sum += found.covariance[i].inverse().of(found.at[i] - grid.truth[i] - mean) / (2 * tiles);
    return std::sqrt(sum);
}

TEST(MosaicPositions, follow_from_exact_offsets) {
    Grid grid(5, 4, .01, 6, 1);
    for (Offset& offset : grid.offsets)
        offset.offset = grid.truth[static_cast<std::size_t>(offset.b)] -
                        grid.truth[static_cast<std::size_t>(offset.a)];
    const Positions found = solve_positions(grid.stage, grid.offsets);
    EXPECT_EQ(found.islands, 1);
    for (std::size_t i = 1; i < grid.truth.size(); ++i) {
        const Point own = found.at[i] - found.at[0], right = grid.truth[i] - grid.truth[0];
        EXPECT_NEAR(own.x, right.x, 1e-3) << i;
        EXPECT_NEAR(own.y, right.y, 1e-3) << i;
    }
}

TEST(MosaicPositions, have_the_stated_deviations) {
    double sum = 0, scale = 0;
    constexpr int seeds = 60;
    for (unsigned seed = 1; seed <= seeds; ++seed) {
        const Grid grid(5, 4, .05, 6, seed);
        const Positions found = solve_positions(grid.stage, grid.offsets);
        sum += std::pow(deviations(grid, found), 2) / seeds;
        scale += found.scale / seeds;
    }
    EXPECT_NEAR(std::sqrt(sum), 1, .1);
    EXPECT_NEAR(scale, 1, .1);
}

TEST(MosaicPositions, have_the_covariance_of_the_dense_inverse) {
    Grid grid(3, 3, .05, 6, 2);
    PositionOptions options;
    options.stage_error = 7;
    const Positions found = solve_positions(grid.stage, grid.offsets, options);
    const auto size = static_cast<Eigen::Index>(2 * grid.stage.size());
    Eigen::MatrixXd normal = Eigen::MatrixXd::Identity(size, size) / (7. * 7.);
    for (const Offset& offset : grid.offsets) {
        const Symmetric w = offset.covariance.inverse();
        Eigen::Matrix2d block;
        block << w.xx, w.xy, w.xy, w.yy;
        const int a = 2 * offset.a, b = 2 * offset.b;
        normal.block<2, 2>(a, a) += block, normal.block<2, 2>(b, b) += block;
        normal.block<2, 2>(a, b) -= block, normal.block<2, 2>(b, a) -= block;
    }
    Eigen::MatrixXd centring = Eigen::MatrixXd::Identity(size, size);
    for (Eigen::Index i = 0; i < size; ++i) {
        for (Eigen::Index j = i % 2; j < size; j += 2)
            centring(i, j) -= 2. / static_cast<double>(size);
    }
    const Eigen::MatrixXd covariance =
        found.scale * found.scale * (centring * normal.inverse() * centring.transpose());
    for (std::size_t i = 0; i < grid.stage.size(); ++i) {
        const auto x = static_cast<Eigen::Index>(2 * i);
        EXPECT_NEAR(found.covariance[i].xx, covariance(x, x), 1e-9);
        EXPECT_NEAR(found.covariance[i].xy, covariance(x, x + 1), 1e-9);
        EXPECT_NEAR(found.covariance[i].yy, covariance(x + 1, x + 1), 1e-9);
    }
}

TEST(MosaicPositions, are_not_moved_by_offsets_that_disagree) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        Grid grid(8, 7, .05, 6, seed);
        const Positions before = solve_positions(grid.stage, grid.offsets);
        std::vector<std::size_t> wrong;
        const auto corner = [](int tile) {
            return tile == 0 || tile == 7 || tile == 48 || tile == 55;
        };
        for (std::size_t l = seed % 7; l < grid.offsets.size(); l += 9) {
            // A tile with two offsets cannot tell which is right.
            if (corner(grid.offsets[l].a) || corner(grid.offsets[l].b))
                continue;
            grid.offsets[l].offset.x += l % 2 == 0 ? 11 : -11; // a period of a lattice
            wrong.push_back(l);
        }
        const Positions found = solve_positions(grid.stage, grid.offsets);
        EXPECT_LT(deviations(grid, found), 1.6) << seed;
        for (std::size_t l = 0; l < grid.offsets.size(); ++l) {
            const bool is_wrong = std::ranges::find(wrong, l) != wrong.end();
            if (found.redundancy[l] > .1) {
                EXPECT_EQ(found.kept[l] == 0, is_wrong) << seed << ", offset " << l;
            }
        }
        EXPECT_EQ(before.islands, 1);
    }
}

TEST(MosaicPositions, know_the_angle_of_the_camera) {
    Grid grid(6, 5, .05, 3, 3);
    constexpr double angle = .03, scale = 1.02;
    for (Point& stage : grid.stage) // the stage as seen from the camera
        stage = {(std::cos(angle) * stage.x + std::sin(angle) * stage.y) / scale,
                 (-std::sin(angle) * stage.x + std::cos(angle) * stage.y) / scale};
    const Positions found = solve_positions(grid.stage, grid.offsets);
    EXPECT_NEAR(std::atan2(found.map.c, found.map.a), angle, .01);
    EXPECT_NEAR(std::hypot(found.map.a, found.map.c), scale, .01);
    EXPECT_LT(deviations(grid, found), 1.6);
    EXPECT_NEAR(found.stage_error, 3, 1.5);
}

TEST(MosaicPositions, of_islands_and_single_tiles_are_those_of_the_stage) {
    Grid grid(4, 4, .05, 5, 4);
    // Two columns each, and the last tile alone.
    std::erase_if(grid.offsets,
                  [](const Offset& o) { return (o.a % 4 == 1 && o.b % 4 == 2) || o.b == 15; });
    const Positions found = solve_positions(grid.stage, grid.offsets);
    EXPECT_EQ(found.islands, 3);
    EXPECT_EQ(found.island[0], found.island[13]);
    EXPECT_NE(found.island[0], found.island[2]);
    const Point moved = found.at[15] - grid.stage[15];
    EXPECT_LT(std::hypot(moved.x, moved.y), 10);
    EXPECT_NEAR(std::sqrt(found.covariance[15].xx), found.stage_error, 1e-9);
    EXPECT_LT(std::sqrt(found.covariance[0].xx), .1) << "relative to its island";
    for (const int tile : {2, 3, 6, 7, 10, 11, 14}) {
        const Point error =
            found.at[static_cast<std::size_t>(tile)] - grid.truth[static_cast<std::size_t>(tile)];
        EXPECT_LT(std::hypot(error.x, error.y), 10) << tile;
    }
}

TEST(MosaicPositions, of_one_row_are_a_chain_that_no_loop_verifies) {
    const Grid grid(6, 1, .05, 5, 5);
    const Positions found = solve_positions(grid.stage, grid.offsets);
    for (const double redundancy : found.redundancy)
        EXPECT_LT(redundancy, .01);
    EXPECT_LT(deviations(grid, found), 2.5);
}

TEST(MosaicPositions, of_many_tiles_are_solved) {
    const Grid grid(100, 80, .05, 5, 6);
    const Positions found = solve_positions(grid.stage, grid.offsets);
    EXPECT_LT(deviations(grid, found), 2.5) << "errors of distant tiles are correlated";
    EXPECT_GT(deviations(grid, found), .4);
    EXPECT_NEAR(found.scale, 1, .05);
}

TEST(MosaicLevels, follow_from_ratios) {
    const std::vector<LevelRatio> ratios{{0, 1, 2, 3}, {2, 1, .5, 1}, {3, 4, 1.21, 1}};
    const std::vector<double> levels = solve_levels(6, ratios);
    EXPECT_NEAR(levels[1] / levels[0], 2, 1e-4);
    EXPECT_NEAR(levels[1] / levels[2], .5, 1e-4);
    EXPECT_NEAR(levels[0] * levels[1] * levels[2], 1, 1e-4) << "the mean of the logarithms is 0";
    EXPECT_NEAR(levels[3], 1 / 1.1, 1e-4);
    EXPECT_EQ(levels[5], 1);
    EXPECT_EQ(solve_levels(2, {}), (std::vector<double>{1, 1}));
    for (const LevelRatio& wrong : std::vector<LevelRatio>{
             {0, 0, 1, 1}, {0, 6, 1, 1}, {-1, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 0}}) {
        EXPECT_THROW(solve_levels(6, std::vector<LevelRatio>{wrong}), InvalidTask);
    }
}

TEST(MosaicPositions, refuse_what_is_no_offset) {
    const std::vector<Point> stage{{0, 0}, {100, 0}};
    const auto refused = [&](Offset offset) {
        EXPECT_THROW(solve_positions(stage, std::vector<Offset>{offset}), InvalidTask);
    };
    refused({0, 2, {100, 0}, {1, 0, 1}});
    refused({-1, 1, {100, 0}, {1, 0, 1}});
    refused({1, 1, {100, 0}, {1, 0, 1}});
    refused({0, 1, {100, 0}, {1, 1, 1}});
    refused({0, 1, {100, 0}, {0, 0, 0}});
    EXPECT_TRUE(solve_positions({}, {}).at.empty());
    const Positions alone = solve_positions(stage, {});
    EXPECT_EQ(alone.islands, 2);
    EXPECT_EQ(alone.at[1], stage[1]);
}

} // namespace
} // namespace sextant::mosaic
