// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/error.hpp"
#include "sextant/kernel/filter/filter_bank.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "tests/kernel/pictures.hpp"
#include "tests/kernel/processors.hpp"
#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant::kernel {
namespace {

using test::Picture;
using test::whole;

TEST(Feature, derivative_names_have_one_letter_per_order_and_axis) {
    EXPECT_EQ(find_feature("xyx").needs[0].x, 2);
    EXPECT_EQ(find_feature("xyx").needs[0].y, 1);
    EXPECT_EQ(find_feature("yyyy").needs[0].y, 4);
    EXPECT_EQ(find_feature("smooth").needs[0].x, 0);
    EXPECT_THROW(find_feature("xxxxx"), InvalidTask);
    EXPECT_THROW(find_feature(""), InvalidTask);
    try {
        find_feature("laplacan");
        FAIL() << "accepted";
    } catch (const InvalidTask& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("did you mean laplacian"));
    }
}

/// Computes one feature of images.
void made(std::string_view name, std::span<const float* const> derivatives, float* to,
          Elements count) {
    const Feature feature = find_feature(name);
    std::array<float*, 3> planes{};
    planes[feature.part] = to;
    feature.make(derivatives, planes.data(), count);
}

TEST(Feature, eigenvalues_are_those_of_the_hessian_matrix) {
    // [2 2; 2 5] has the eigenvalues 6 and 1, [-3 0; 0 -3] has -3 twice.
    const float xx[] = {2, -3}, xy[] = {2, 0}, yy[] = {5, -3};
    const std::array<const float*, 3> derivatives = {xx, xy, yy};
    float larger[2], smaller[2];
    made("hessian-1", derivatives, larger, 2);
    made("hessian-2", derivatives, smaller, 2);
    EXPECT_FLOAT_EQ(larger[0], 6);
    EXPECT_FLOAT_EQ(smaller[0], 1);
    EXPECT_FLOAT_EQ(larger[1], -3);
    EXPECT_FLOAT_EQ(smaller[1], -3);
}

/// Features of the whole image, one plane after another.
std::vector<float> filtered(const Picture<float>& picture, const std::vector<std::string>& names) {
    const ImageShape image = picture.image();
    std::vector<float> all(names.size() * static_cast<std::size_t>(image.elements()));
    std::vector<Plane> planes;
    for (std::size_t k = 0; k < names.size(); ++k)
        planes.push_back(
            {all.data() + k * static_cast<std::size_t>(image.elements()), image.width});
    FilterBank(1, names).apply(picture.view(), whole(image), planes);
    return all;
}

/// Second derivatives, one array per direction.
struct Derivatives {
    std::vector<float> xx, xy, yy;
};

Derivatives of_every_magnitude() {
    Derivatives all;
    test::Random random(9);
    for (int exponent = -140; exponent <= 126; ++exponent) {
        for (auto* part : {&all.xx, &all.xy, &all.yy}) {
            for (int i = 0; i < 3; ++i)
                part->push_back(std::ldexp(static_cast<float>(random.number(-1000, 1000)) / 1000.F,
                                           exponent - (i == 2 ? random.number(0, 30) : 0)));
        }
    }
    return all;
}

void expect_near(float found, double expected) {
    constexpr double least = std::numeric_limits<float>::denorm_min();
    EXPECT_NEAR(found, expected, std::abs(expected) * 3e-7 + least);
}

TEST(Feature, magnitudes_and_eigenvalues_are_right_for_derivatives_of_any_scale) {
    const Derivatives d = of_every_magnitude();
    const std::size_t n = d.xx.size();
    const std::array<const float*, 3> hessian = {d.xx.data(), d.xy.data(), d.yy.data()};
    std::vector<float> length(n), larger(n), smaller(n);
    test::on_every_processor([&](const char* processor) {
        SCOPED_TRACE(processor);
        const auto count = static_cast<Elements>(n);
        made("gradient-magnitude", std::span(hessian).first(2), length.data(), count);
        made("hessian-1", hessian, larger.data(), count);
        made("hessian-2", hessian, smaller.data(), count);
        for (std::size_t i = 0; i < n; ++i) {
            const double xx = d.xx[i], xy = d.xy[i], yy = d.yy[i];
            expect_near(length[i], std::hypot(xx, xy));
            const double mean = (xx + yy) / 2, apart = std::hypot((xx - yy) / 2, xy);
            const double size = std::abs(mean) + apart; // cancellation loses digits
            const double within = 3e-7 * size + 2 * std::numeric_limits<float>::denorm_min();
            EXPECT_NEAR(larger[i], mean + apart, within);
            EXPECT_NEAR(smaller[i], mean - apart, within);
        }
    });
}

TEST(Feature, a_magnitude_is_infinite_or_NaN_only_for_infinite_or_NaN_input_or_on_overflow) {
    constexpr float infinite = std::numeric_limits<float>::infinity();
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> x = {infinite, nan, 3e38F, 0, 1e-45F, 2e38F};
    const std::vector<float> y = {1, 1, 3e38F, 0, 0, 2e38F};
    const std::array<const float*, 2> gradient = {x.data(), y.data()};
    std::vector<float> length(x.size());
    made("gradient-magnitude", gradient, length.data(), 6);
    EXPECT_EQ(length[0], infinite);
    EXPECT_TRUE(std::isnan(length[1]));
    EXPECT_EQ(length[2], infinite);
    EXPECT_EQ(length[3], 0);
    EXPECT_EQ(length[4], 1e-45F);
    EXPECT_FLOAT_EQ(length[5], 2.828427e38F);
}

TEST(FilterBank, computes_features_from_the_same_derivatives_that_it_returns) {
    Picture<float> picture({40, 700}); // more rows than are filtered at once
    picture.fill_random(5, 1000);
    const std::vector<float> five = filtered(picture, {"x", "y", "xx", "yy"});
    const std::vector<float> made = filtered(picture, {"gradient-magnitude", "y", "laplacian"});
    const std::size_t n = 40 * 700;
    for (std::size_t i = 0; i < n; ++i) {
        const float x = five[i], y = five[n + i];
        ASSERT_EQ(made[i], std::sqrt(x * x + y * y)) << i;
        ASSERT_EQ(made[n + i], y) << i;
        ASSERT_EQ(made[2 * n + i], five[2 * n + i] + five[3 * n + i]) << i;
    }
}

TEST(FilterBank, refuses_a_feature_that_is_requested_twice) {
    EXPECT_THROW(FilterBank(1, {"xy", "yx"}), InvalidTask);
    EXPECT_THROW(FilterBank(1, {"laplacian", "laplacian"}), InvalidTask);
    EXPECT_NO_THROW(FilterBank(1, {"laplacian", "xx"}));
    EXPECT_THROW(FilterBank(1, {}), InvalidTask);
    EXPECT_THROW(FilterBank(.1, {"x"}), InvalidTask);
}

} // namespace
} // namespace sextant::kernel
