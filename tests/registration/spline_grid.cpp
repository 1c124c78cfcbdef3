// SPDX-License-Identifier: BSD-3-Clause
// Splines on a control grid, their energies, and their sums over cells, each compared with its
// definition.
#include "sextant/registration/pair/spline_grid.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/random.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using kernel::CellSums;
using registration::BandedMatrix;
using registration::Point;
using registration::SplineBasis;
using registration::SplineCells;
using registration::SplineGrid;

std::vector<double> random_coefficients(const SplineGrid& grid, unsigned seed) {
    Random random(seed);
    std::vector<double> c(grid.unknowns());
    for (double& one : c)
        one = random.number(-1000, 1000) / 1000.;
    return c;
}

/// The spline w at a point, from the definition.
Point value(const SplineGrid& grid, const std::vector<double>& c, Point at) {
    const SplineBasis x = grid.along_x(at.x), y = grid.along_y(at.y);
    Point sum;
    for (std::size_t j = 0; j < 4; ++j) {
        for (std::size_t i = 0; i < 4; ++i) {
            const std::size_t k = grid.unknown(x.first + i, y.first + j);
            sum.x += x.weight[i] * y.weight[j] * c[k];
            sum.y += x.weight[i] * y.weight[j] * c[k + 1];
        }
    }
    return sum;
}

/// Coefficients of w(x) = (a + bx − ty, c + dy + tx). The coefficients of a linear spline are its
/// values at the control points, of which the first is one interval before the image.
std::vector<double> linear(const SplineGrid& grid, ImageShape image, Point shift, Point slope,
                           double turn = 0) {
    std::vector<double> c(grid.unknowns());
    for (std::size_t j = 0; j < grid.rows(); ++j) {
        for (std::size_t i = 0; i < grid.columns(); ++i) {
            const auto place = [](std::size_t at, std::size_t controls, std::int64_t size) {
                return (static_cast<double>(at) - 1) * static_cast<double>(size - 1) /
                       static_cast<double>(controls - 3);
            };
            const std::size_t k = grid.unknown(i, j);
            const double x = place(i, grid.columns(), image.width);
            const double y = place(j, grid.rows(), image.height);
            c[k] = shift.x + slope.x * x - turn * y;
            c[k + 1] = shift.y + slope.y * y + turn * x;
        }
    }
    return c;
}

double energy(const SplineGrid& grid, const std::vector<double>& c, double share) {
    std::vector<double> product(c.size());
    grid.energy(share).multiply(c, product);
    double sum = 0;
    for (std::size_t i = 0; i < c.size(); ++i)
        sum += c[i] * product[i];
    return sum;
}

TEST(SplineGrid, has_basis_functions_that_sum_to_one_everywhere) {
    const SplineGrid grid({200, 90}, 30);
    EXPECT_EQ(grid.columns(), 7U + 3);
    EXPECT_EQ(grid.rows(), 3U + 3);
    for (double x = 0; x <= 199; x += 1.7) {
        const SplineBasis basis = grid.along_x(x);
        EXPECT_LE(basis.first + 4, grid.columns());
        double sum = 0;
        for (const double weight : basis.weight)
            sum += weight;
        EXPECT_NEAR(sum, 1, 1e-12);
    }
    EXPECT_THROW(SplineGrid({1, 5}, 8), InvalidTask);
    EXPECT_THROW(SplineGrid({20, 5}, 0), InvalidTask);
}

TEST(SplineGrid, has_zero_bending_energy_for_linear_displacements) {
    for (const ImageShape image : {ImageShape{150, 80}, {80, 150}}) {
        const SplineGrid grid(image, 32);
        const auto shift = linear(grid, image, {3, -2}, {0, 0});
        const auto stretch = linear(grid, image, {0, 0}, {.1, .2});
        const Point there = value(grid, stretch, {50, 70});
        EXPECT_NEAR(there.x, 5, 1e-9);
        EXPECT_NEAR(there.y, 14, 1e-9);
        EXPECT_NEAR(energy(grid, shift, .1), 0, 1e-9);
        EXPECT_NEAR(energy(grid, stretch, 0), 0, 1e-9);
        EXPECT_NEAR(energy(grid, linear(grid, image, {3, -2}, {0, 0}, .3), 1), 0, 1e-8);
        // ∫‖ε(w)‖² = area (.1² + .2²)
        const double area = static_cast<double>((image.width - 1) * (image.height - 1));
        EXPECT_NEAR(energy(grid, stretch, 1), .05 * area, 1e-8 * area);
    }
}

TEST(SplineGrid, has_the_bending_energy_given_by_second_differences) {
    const ImageShape image{65, 49};
    const SplineGrid grid(image, 16);
    const auto c = random_coefficients(grid, 4);
    const double step = .25, h = 1e-2;
    double sum = 0;
    for (double y = step / 2; y < 48; y += step) {
        for (double x = step / 2; x < 64; x += step) {
            const auto second = [&](Point v, Point w) {
                const auto at = [&](double a, double b) {
                    return value(grid, c,
                                 {x + h * (a * v.x + b * w.x), y + h * (a * v.y + b * w.y)});
                };
                const Point p = at(1, 1), q = at(1, -1), r = at(-1, 1), s = at(-1, -1);
                const double dx = (p.x - q.x - r.x + s.x) / (4 * h * h);
                const double dy = (p.y - q.y - r.y + s.y) / (4 * h * h);
                return dx * dx + dy * dy;
            };
            const Point along_x{.5, 0}, along_y{0, .5};
            // Half the spacing gives a quarter of each second difference.
            sum += 16 * (second(along_x, along_x) + 2 * second(along_x, along_y) +
                         second(along_y, along_y));
        }
    }
    const double expected = 16 * 16 * sum * step * step;
    EXPECT_NEAR(energy(grid, c, 0) / expected, 1, 1e-3);
}

TEST(SplineGrid, has_the_strain_energy_given_by_differences) {
    for (const ImageShape image : {ImageShape{65, 40}, {40, 65}}) {
        const SplineGrid grid(image, 16);
        const auto c = random_coefficients(grid, 5);
        const double step = .25, h = 1e-3;
        double sum = 0;
        for (double y = step / 2; y < static_cast<double>(image.height - 1); y += step) {
            for (double x = step / 2; x < static_cast<double>(image.width - 1); x += step) {
                const Point right = value(grid, c, {x + h, y}), left = value(grid, c, {x - h, y});
                const Point below = value(grid, c, {x, y + h}), above = value(grid, c, {x, y - h});
                const double xx = (right.x - left.x) / (2 * h), yy = (below.y - above.y) / (2 * h);
                const double xy = (below.x - above.x + right.y - left.y) / (4 * h);
                sum += xx * xx + yy * yy + 2 * xy * xy;
            }
        }
        const double found = energy(grid, c, 1) - energy(grid, c, 0);
        EXPECT_NEAR(found / (sum * step * step), 1, 1e-3);
    }
}

TEST(SplineCells, evaluate_motion_plus_splines_at_cell_corners) {
    const ImageShape image{121, 70}, level{61, 35};
    const SplineGrid grid(image, 40);
    SplineCells cells(grid, level, 2);
    const auto c = random_coefficients(grid, 7);
    const registration::RigidMotion motion{.02, 3, -1};
    const Point centre = registration::centre(image);
    const auto corners =
        static_cast<std::size_t>((cells.cells().width + 1) * (cells.cells().height + 1));
    std::vector<float> u_x(corners), u_y(corners);
    cells.displacements(c, motion, centre, u_x, u_y);
    std::size_t corner = 0;
    for (int j = 0; j <= cells.cells().height; ++j) {
        for (int i = 0; i <= cells.cells().width; ++i, ++corner) {
            const Point at{16. * i, 16. * j};
            const Point moved = apply(motion, at, centre), w = value(grid, c, at);
            ASSERT_NEAR(u_x[corner], (moved.x - at.x + w.x) / 2, 1e-5);
            ASSERT_NEAR(u_y[corner], (moved.y - at.y + w.y) / 2, 1e-5);
        }
    }
}

/// The normal equations of single cells, from the definition: each cell adds BᵀSB and Bs.
TEST(SplineCells, assemble_the_normal_equations_of_splines_from_cells) {
    const double alpha = .3, unit = 2;
    for (const ImageShape image : {ImageShape{121, 70}, {70, 121}}) {
        const SplineGrid grid(image, 40);
        SplineCells cells(grid, {image.width / 2, image.height / 2}, unit);
        Random random(9);
        std::vector<CellSums> sums(static_cast<std::size_t>(cells.cells().elements()));
        const auto any = [&] { return static_cast<float>(random.number(-1000, 1000)) / 1000; };
        for (CellSums& cell : sums)
            cell = {64, 2 + any(), any(), 2 + any(), any(), any()};
        BandedMatrix matrix(grid.unknowns(), grid.band());
        std::vector<double> score(grid.unknowns());
        const auto width = static_cast<std::size_t>(cells.cells().width);
        for (std::size_t row = sums.size() / width; row-- > 0;) // the order does not matter
            cells.take_row(row, {&sums[row * width], width}, alpha);
        cells.normal_equations(matrix, score);

        const auto c = random_coefficients(grid, 11);
        const double cosine = std::cos(alpha), sine = std::sin(alpha);
        double expected_square = 0, expected_slope = 0;
        for (std::size_t k = 0; k < sums.size(); ++k) {
            const auto column =
                static_cast<double>(static_cast<std::int64_t>(k) % cells.cells().width);
            const auto row =
                static_cast<double>(static_cast<std::int64_t>(k) / cells.cells().width);
            const Point w = value(grid, c, {unit * (8 * column + 3.5), unit * (8 * row + 3.5)});
            // Rᵀw in pixels of the pyramid level, since S and s refer to the gradient of the
            // reference.
            const double x = (cosine * w.x + sine * w.y) / unit;
            const double y = (cosine * w.y - sine * w.x) / unit;
            expected_square += sums[k].xx * x * x + 2. * sums[k].xy * x * y + sums[k].yy * y * y;
            expected_slope += sums[k].x * x + sums[k].y * y;
        }
        std::vector<double> product(c.size());
        matrix.multiply(c, product);
        double square = 0, slope = 0;
        for (std::size_t i = 0; i < c.size(); ++i) {
            square += c[i] * product[i];
            slope += c[i] * score[i];
        }
        EXPECT_NEAR(square / expected_square, 1, 1e-5);
        EXPECT_NEAR(slope, expected_slope, 1e-4);
    }
}

TEST(SplineCells, compute_standard_deviations_from_a_covariance) {
    const ImageShape image{90, 70};
    const SplineGrid grid(image, 30);
    const SplineCells cells(grid, image, 1);
    // If the covariance is the band of ccᵀ, the variance of w is the square of w.
    const auto c = random_coefficients(grid, 2);
    BandedMatrix covariance(grid.unknowns(), grid.band());
    for (std::size_t j = 0; j < c.size(); ++j) {
        for (std::size_t i = j; i < std::min(c.size(), j + grid.band() + 1); ++i)
            covariance.at(i, j) = c[i] * c[j];
    }
    std::vector<float> sigma(static_cast<std::size_t>((12 + 1) * (9 + 1)));
    cells.deviations(covariance, sigma);
    std::size_t corner = 0;
    for (int j = 0; j <= 9; ++j) {
        for (int i = 0; i <= 12; ++i) {
            const Point w = value(grid, c, {8. * i, 8. * j});
            ASSERT_NEAR(sigma[corner++], std::sqrt((w.x * w.x + w.y * w.y) / 2), 1e-5);
        }
    }
}

} // namespace
} // namespace sextant::test
