// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/machine/interpolate.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace sextant::machine {
namespace {

Point point(Bytes bytes, Bytes block, double seconds) {
    return {bytes, block, exactly(seconds)};
}

const std::vector<Point> bent = {point(0, 0, 1), point(100, 100, 3), point(200, 200, 13)};

TEST(Interpolation, is_piecewise_linear_between_measured_sizes) {
    EXPECT_DOUBLE_EQ(at_size(bent, 0).median, 1);
    EXPECT_DOUBLE_EQ(at_size(bent, 50).median, 2);
    EXPECT_DOUBLE_EQ(at_size(bent, 100).median, 3);
    EXPECT_DOUBLE_EQ(at_size(bent, 110).median, 4);
    EXPECT_FALSE(at_size(bent, 199).extrapolated);
}

TEST(Interpolation, extrapolates_beyond_the_measured_sizes_and_reports_it) {
    const Estimate above = at_size(bent, 300);
    EXPECT_DOUBLE_EQ(above.median, 23);
    EXPECT_TRUE(above.extrapolated);
    const std::vector<Point> late(bent.begin() + 1, bent.end());
    EXPECT_TRUE(at_size(late, 95).extrapolated);
    EXPECT_DOUBLE_EQ(at_size(late, 95).median, 2.5);
    EXPECT_EQ(at_size(late, 0).median, 0) << "never below zero";
}

TEST(Interpolation, of_a_single_point_is_constant) {
    const std::vector<Point> one = {point(64, 64, 2)};
    for (Bytes bytes : {Bytes{0}, Bytes{64}, Bytes{1} << 40}) {
        EXPECT_EQ(at_size(one, bytes).median, 2);
        EXPECT_EQ(at_size(one, bytes).extrapolated, bytes != 64);
    }
}

TEST(Interpolation, interpolates_confidence_intervals) {
    const std::vector<Point> points = {{0, 0, {2, 1, 4, 9}}, {10, 10, {4, 3, 8, 9}}};
    const Estimate middle = at_size(points, 5);
    EXPECT_DOUBLE_EQ(middle.low, 2);
    EXPECT_DOUBLE_EQ(middle.median, 3);
    EXPECT_DOUBLE_EQ(middle.high, 6);
}

TEST(Interpolation, is_linear_in_elements_and_operands_of_passes) {
    const std::vector<Pass> passes = {{100, 2, exactly(10)},
                                      {100, 4, exactly(14)},
                                      {100, 8, exactly(20)},
                                      {200, 2, exactly(30)},
                                      {200, 4, exactly(40)}};
    EXPECT_DOUBLE_EQ(at_pass(passes, 100, 4).median, 14);
    EXPECT_DOUBLE_EQ(at_pass(passes, 150, 2).median, 20);
    EXPECT_DOUBLE_EQ(at_pass(passes, 150, 3).median, 23.5);
    EXPECT_FALSE(at_pass(passes, 150, 3).extrapolated);
    EXPECT_DOUBLE_EQ(at_pass(passes, 100, 10).median, 23)
        << "each further operand costs as much as the last one";
    EXPECT_TRUE(at_pass(passes, 100, 10).extrapolated);
    EXPECT_DOUBLE_EQ(at_pass(passes, 100, 1).median, 8);
    EXPECT_TRUE(at_pass(passes, 300, 2).extrapolated);
}

TEST(Interpolation, extrapolates_from_passes_with_a_single_number_of_operands) {
    const std::vector<Pass> pairs = {{100, 2, exactly(10)}};
    EXPECT_DOUBLE_EQ(at_pass(pairs, 100, 2).median, 10);
    EXPECT_DOUBLE_EQ(at_pass(pairs, 100, 5).median, 40);
    EXPECT_TRUE(at_pass(pairs, 100, 5).extrapolated);
    EXPECT_THROW(at_pass({}, 1, 2), std::invalid_argument);
}

TEST(Interpolation, is_linear_in_the_logarithm_of_the_block_length) {
    const std::vector<Point> points = {point(0, 0, 0), point(64, 4, 8), point(64, 16, 4),
                                       point(128, 4, 16), point(128, 16, 8)};
    EXPECT_DOUBLE_EQ(at_size_and_block(points, 128, 8).median, 12);
    EXPECT_DOUBLE_EQ(at_size_and_block(points, 96, 16).median, 6);
    EXPECT_FALSE(at_size_and_block(points, 96, 8).extrapolated);
    EXPECT_EQ(at_size_and_block(points, 0, 8).median, 0);
}

TEST(Interpolation, uses_the_nearest_block_length_outside_the_measured_range_and_reports_it) {
    const std::vector<Point> points = {point(64, 4, 8), point(64, 16, 4), point(128, 4, 16),
                                       point(128, 16, 8)};
    EXPECT_DOUBLE_EQ(at_size_and_block(points, 64, 2).median, 8);
    EXPECT_TRUE(at_size_and_block(points, 64, 2).extrapolated);
    EXPECT_DOUBLE_EQ(at_size_and_block(points, 64, 64).median, 4);
    EXPECT_TRUE(at_size_and_block(points, 64, 64).extrapolated);
}

TEST(Interpolation, uses_the_size_alone_if_each_size_has_its_own_block_length) {
    // Messages of 100 blocks, as in the P-3PC paper.
    const std::vector<Point> points = {point(0, 0, 1), point(400, 4, 3), point(800, 8, 7)};
    EXPECT_DOUBLE_EQ(at_size_and_block(points, 600, 6).median, 5);
    EXPECT_FALSE(at_size_and_block(points, 600, 6).extrapolated);
    EXPECT_TRUE(at_size_and_block(points, 600, 100).extrapolated);
    EXPECT_FALSE(at_size_and_block(points, 0, 1).extrapolated);
    EXPECT_FALSE(at_size_and_block(points, 100, 4).extrapolated);
}

TEST(Interpolation, requires_at_least_one_point) {
    EXPECT_THROW(at_size({}, 1), std::invalid_argument);
    EXPECT_THROW(at_size_and_block({}, 1, 1), std::invalid_argument);
    EXPECT_THROW(fitted_line({}), std::invalid_argument);
}

TEST(FittedLine, is_exact_for_points_on_a_line) {
    const std::vector<Point> line = {point(0, 0, 2), point(10, 10, 7), point(1000, 1000, 502)};
    EXPECT_DOUBLE_EQ(fitted_line(line).constant, 2);
    EXPECT_DOUBLE_EQ(fitted_line(line).slope, 0.5);
}

TEST(FittedLine, passes_through_the_smallest_message_and_minimises_relative_errors) {
    const Line line = fitted_line(bent);
    EXPECT_DOUBLE_EQ(line.constant, 1);
    // The slope b minimises ((1 + 100 b) / 3 - 1)^2 + ((1 + 200 b) / 13 - 1)^2.
    const auto error = [](double b) {
        const double e = (1 + 100 * b) / 3 - 1, f = (1 + 200 * b) / 13 - 1;
        return e * e + f * f;
    };
    EXPECT_LT(error(line.slope), error(line.slope * 1.001));
    EXPECT_LT(error(line.slope), error(line.slope * 0.999));
}

} // namespace
} // namespace sextant::machine
