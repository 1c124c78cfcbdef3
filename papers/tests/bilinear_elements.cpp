// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/error.hpp"

#include <cmath>
#include <numeric>

#include "papers/thesis_elements.hpp"
#include "tests/support/random.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using papers::BilinearElements;
using papers::Nodal;

Nodal random_values(std::size_t count, unsigned seed) {
    Random random(seed);
    Nodal values(count);
    for (double& value : values)
        value = random.number(-1000, 1000) / 1000.;
    return values;
}

double dot(const Nodal& f, const Nodal& g) {
    return std::inner_product(f.begin(), f.end(), g.begin(), 0.);
}

const std::vector<ImageShape> shapes = {{2, 2}, {3, 2}, {2, 7}, {9, 5}, {16, 12}, {13, 13}};

Nodal from_function(ImageShape nodes, double h, double (*f)(double, double)) {
    Nodal values;
    for (int y = 0; y < nodes.height; ++y) {
        for (int x = 0; x < nodes.width; ++x)
            values.push_back(f(x * h, y * h));
    }
    return values;
}

TEST(BilinearElements, integrate_bilinear_functions_and_their_squares_exactly) {
    const double h = .25;
    for (const ImageShape nodes : shapes) {
        const BilinearElements elements(nodes, h);
        const double a = static_cast<double>(nodes.width - 1) * h;
        const double b = static_cast<double>(nodes.height - 1) * h;
        const Nodal one(elements.count(), 1);
        const Nodal xy = from_function(nodes, h, [](double x, double y) { return x * y; });
        EXPECT_NEAR(dot(one, elements.mass(one)), a * b, 1e-12);
        EXPECT_NEAR(elements.area(), a * b, 1e-12);
        EXPECT_NEAR(dot(one, elements.mass(xy)), a * a * b * b / 4, 1e-12);
        EXPECT_NEAR(dot(xy, elements.mass(xy)), std::pow(a * b, 3) / 9, 1e-11);
        // ∫ |∇(xy)|² = ∫ x² + y²
        EXPECT_NEAR(dot(xy, elements.stiffness(xy)), a * b * (a * a + b * b) / 3, 1e-11);
        EXPECT_NEAR(dot(one, elements.stiffness(xy)), 0, 1e-12);
    }
}

TEST(BilinearElements, smooth_with_the_inverse_of_mass_plus_stiffness) {
    for (const ImageShape nodes : shapes) {
        const BilinearElements elements(nodes, .1);
        const Nodal load = random_values(elements.count(), 3);
        for (const double s : {0., .03, 1., 8.}) {
            const Nodal d = elements.smoothed(load, s);
            const Nodal mass = elements.mass(d), stiffness = elements.stiffness(d);
            for (std::size_t i = 0; i < load.size(); ++i)
                ASSERT_NEAR(mass[i] + s * s / 2 * stiffness[i], load[i], 1e-10)
                    << nodes.width << "x" << nodes.height << ", s " << s;
        }
    }
}

TEST(BilinearElements, require_two_nodes_along_each_axis) {
    EXPECT_THROW(BilinearElements({1, 5}, 1), InvalidTask);
    EXPECT_THROW(BilinearElements({5, 1}, 1), InvalidTask);
    EXPECT_THROW(BilinearElements({5, 5}, 0), InvalidTask);
}

} // namespace
} // namespace sextant::test
