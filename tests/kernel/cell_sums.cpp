// SPDX-License-Identifier: BSD-3-Clause
// Gradients of images, and the sums over cells from which displacement fields are fitted.
#include "sextant/kernel/fit/cell_sums.hpp"

#include "sextant/kernel/filter/float_plane.hpp"

#include <cmath>
#include <limits>

#include "tests/kernel/processors.hpp"
#include "tests/support/filter_references.hpp"
#include "tests/support/random.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using kernel::CellComparison;
using kernel::CellSums;
using kernel::FitMoments;
using kernel::FloatPlane;

template <class Value>
FloatPlane plane_of(ImageShape shape, Value value) {
    FloatPlane plane(shape);
    for (Elements y = 0; y < shape.height; ++y) {
        for (Elements x = 0; x < shape.width; ++x)
            plane.row(y)[x] = static_cast<float>(value(x, y));
    }
    return plane;
}

float any(Random& random) {
    return static_cast<float>(random.number(-1000, 1000)) / 1000;
}

TEST(Gradients, are_exact_for_polynomials_of_degree_four) {
    const ImageShape shape{23, 17};
    const auto x_part = [](double x) { return ((.01 * x - .1) * x + .3) * x * x + x; };
    const auto slope_x = [](double x) { return ((.04 * x - .3) * x + .6) * x + 1; };
    const auto image = plane_of(shape, [&](Elements x, Elements y) {
        return x_part(static_cast<double>(x)) - 2 * x_part(static_cast<double>(y));
    });
    FloatPlane along_x(shape), along_y(shape);
    kernel::slopes(image.image(), along_x, along_y);
    for (Elements y = 2; y < shape.height - 2; ++y) {
        for (Elements x = 2; x < shape.width - 2; ++x) {
            const double expected_x = slope_x(static_cast<double>(x));
            const double expected_y = -2 * slope_x(static_cast<double>(y));
            ASSERT_NEAR(along_x.image().at(x, y), expected_x, 2e-3 + 1e-4 * std::abs(expected_x));
            ASSERT_NEAR(along_y.image().at(x, y), expected_y, 2e-3 + 1e-4 * std::abs(expected_y));
        }
    }
}

TEST(Gradients, are_NaN_within_two_samples_of_the_border_and_beyond_the_end_of_rows) {
    for (const ImageShape shape : {ImageShape{9, 7}, {64, 5}, {3, 9}, {9, 4}, {1, 1}}) {
        const auto image = plane_of(shape, [](Elements x, Elements y) { return x * y; });
        FloatPlane along_x(shape), along_y(shape);
        kernel::slopes(image.image(), along_x, along_y);
        for (Elements y = 0; y < shape.height; ++y) {
            for (Elements x = 0; x < along_x.image().stride; ++x) {
                const bool known = x >= 2 && x < shape.width - 2 && y >= 2 && y < shape.height - 2;
                ASSERT_EQ(std::isnan(along_x.row(y)[x]), !known) << x << ", " << y;
                ASSERT_EQ(std::isnan(along_y.row(y)[x]), !known) << x << ", " << y;
            }
        }
    }
}

/// Random images with random displacements, some of which point outside the template.
struct Scene {
    Scene(ImageShape shape, double reach, unsigned seed)
        : random(seed),
          reference(plane_of(shape, [&](Elements, Elements) { return any(random); })),
          moved(plane_of(shape, [&](Elements, Elements) { return any(random); })),
          slope_x(shape),
          slope_y(shape),
          cells(kernel::cells_of(shape)) {
        kernel::slopes(reference.image(), slope_x, slope_y);
        const auto corners = static_cast<std::size_t>((cells.width + 1) * (cells.height + 1));
        for (std::size_t i = 0; i < corners; ++i) {
            u_x.push_back(static_cast<float>(reach) * any(random));
            u_y.push_back(static_cast<float>(reach) * any(random));
        }
    }
    CellComparison comparison() const {
        return {reference.image(), slope_x.image(), slope_y.image(), moved.image(),
                u_x.data(),        u_y.data(),      1.25f,           -.125f};
    }

    Random random;
    FloatPlane reference, moved, slope_x, slope_y;
    ImageShape cells;
    std::vector<float> u_x, u_y;
};

void expect_near(double found, double expected, double scale) {
    ASSERT_NEAR(found, expected, 2e-5 * scale);
}

void expect_the_definition(const Scene& scene) {
    const auto width = static_cast<std::size_t>(scene.cells.width);
    std::vector<CellSums> sums(width), expected(width);
    for (Elements row = 0; row < scene.cells.height; ++row) {
        const FitMoments moments = kernel::cell_sums(scene.comparison(), row, sums);
        const FitMoments by_definition =
            kernel::cell_sums_by_definition(scene.comparison(), row, expected);
        for (std::size_t i = 0; i < width; ++i) {
            ASSERT_EQ(sums[i].count, expected[i].count) << i << ", " << row;
            expect_near(sums[i].xx, expected[i].xx, 64);
            expect_near(sums[i].xy, expected[i].xy, 64);
            expect_near(sums[i].yy, expected[i].yy, 64);
            expect_near(sums[i].x, expected[i].x, 64);
            expect_near(sums[i].y, expected[i].y, 64);
        }
        const double scale = 1 + by_definition.count;
        ASSERT_EQ(moments.count, by_definition.count);
        expect_near(moments.r, by_definition.r, scale);
        expect_near(moments.t, by_definition.t, scale);
        expect_near(moments.rr, by_definition.rr, scale);
        expect_near(moments.tt, by_definition.tt, scale);
        expect_near(moments.rt, by_definition.rt, scale);
    }
}

TEST(CellSums, equal_their_definition_on_every_instruction_set) {
    unsigned seed = 1;
    for (const ImageShape shape :
         {ImageShape{64, 40}, {61, 43}, {8, 8}, {9, 17}, {5, 6}, {130, 11}}) {
        for (const double reach : {0., .4, 3., 40.}) {
            const Scene scene(shape, reach, seed++);
            on_every_processor([&](const char* processor) {
                SCOPED_TRACE(processor);
                expect_the_definition(scene);
            });
        }
    }
}

TEST(CellSums, have_no_residual_for_identical_images) {
    Scene scene({40, 32}, 0, 3);
    CellComparison comparison = scene.comparison();
    comparison.moved = scene.reference.image();
    comparison.gain = 1;
    comparison.offset = 0;
    std::vector<CellSums> sums(5);
    const FitMoments moments = kernel::cell_sums(comparison, 1, sums);
    EXPECT_EQ(moments.count, 36 * 8);
    EXPECT_EQ(moments.rr, moments.rt);
    for (const CellSums& cell : sums) {
        EXPECT_EQ(cell.x, 0);
        EXPECT_GT(cell.xx, 0);
    }
}

TEST(CellSums, skip_NaNs_in_either_image) {
    Scene scene({24, 24}, .3, 5);
    scene.reference.row(12)[12] = std::numeric_limits<float>::quiet_NaN();
    expect_the_definition(scene);
    scene.moved.row(4)[17] = std::numeric_limits<float>::quiet_NaN();
    expect_the_definition(scene);
    std::vector<CellSums> sums(3);
    kernel::cell_sums(scene.comparison(), 1, sums);
    EXPECT_LT(sums[1].count, 64);
    EXPECT_FALSE(std::isnan(sums[1].x));
}

} // namespace
} // namespace sextant::test
