// SPDX-License-Identifier: BSD-3-Clause
// Gaussian derivatives compared with the reference, on polynomials and at borders, and invalid
// input.
#include "sextant/core/error.hpp"
#include "sextant/kernel/filter/gaussian_weights.hpp"

#include <algorithm>
#include <functional>

#include "tests/kernel/pictures.hpp"
#include "tests/support/filter_references.hpp"
#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using testing::HasSubstr;

double sum_of_magnitudes(const std::vector<double>& weights) {
    double sum = 0;
    for (const double weight : weights)
        sum += std::abs(weight);
    return sum;
}

/// Compares derivatives with the reference, for samples of magnitude up to 1.
void expect_the_reference(const SampleView& input, double sigma,
                          const std::vector<Derivative>& wanted, BorderRule rule,
                          const kernel::GaussianKernel& kernel = {}) {
    const Planes planes = derivatives_of(input, sigma, wanted, rule, kernel);
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        const auto [x_order, y_order, z_order] = wanted[k];
        double largest = 0, error = 0;
        for (Elements y = 0; y < input.image.height; ++y) {
            for (Elements x = 0; x < input.image.width; ++x) {
                const double expected =
                    kernel::gaussian_derivative(input, x, y, sigma, wanted[k], rule, kernel);
                largest = std::max(largest, std::abs(expected));
                error =
                    std::max(error, std::abs(expected - static_cast<double>(planes.at(k, x, y))));
            }
        }
        const double bound = sum_of_magnitudes(kernel::gaussian_weights(sigma, x_order, kernel)) *
                             sum_of_magnitudes(kernel::gaussian_weights(sigma, y_order, kernel));
        EXPECT_LE(error, 2e-6 * bound) << x_order << ", " << y_order << ", sigma " << sigma;
        if (input.image.elements() >= 500) {
            EXPECT_LE(error, 1e-5 * largest) << x_order << ", " << y_order << ", sigma " << sigma;
        }
    }
    EXPECT_TRUE(planes.frames_are_untouched());
}

TEST(GaussianDerivatives, agree_with_the_reference_at_the_published_scales) {
    for (const double sigma : {1., 3., 5.}) {
        for (const BorderRule rule : border_rules) {
            const auto picture = random_picture({41, 23}, 1);
            expect_the_reference(picture.view(), sigma, five, rule, kernel::p3pc_kernel);
        }
    }
}

TEST(GaussianDerivatives, agree_with_the_reference_for_every_order) {
    for (const double sigma : {.5, .8, 1.7})
        expect_the_reference(random_picture({37, 29}, 2).view(), sigma, every_derivative(), {});
    expect_the_reference(random_picture({61, 43}, 3).view(), 4, {{4, 0}, {3, 1}, {0, 4}}, {});
}

TEST(GaussianDerivatives, agree_with_the_reference_for_tiny_and_thin_images) {
    for (const ImageShape image :
         {ImageShape{1, 1}, {2, 1}, {1, 2}, {3, 3}, {1, 40}, {40, 1}, {5, 9}}) {
        for (const BorderRule rule : border_rules) {
            for (const double sigma : {.5, 2.})
                expect_the_reference(random_picture(image, 4).view(), sigma, five, rule);
        }
    }
}

TEST(GaussianDerivatives, agree_with_the_reference_for_an_image_wider_than_a_strip) {
    expect_the_reference(random_picture({1301, 3}, 5).view(), 1, five, {});
}

TEST(GaussianDerivatives, of_integers_equal_those_of_the_same_values_as_floats) {
    const ImageShape image{150, 20};
    Picture<float> floats(image);
    const auto expect_same = [&](auto integers) {
        floats.fill([&](Elements x, Elements y) { return integers.at(x, y); });
        for (const BorderRule rule : border_rules)
            EXPECT_TRUE(derivatives_of(integers.view(), 1.5, five, rule) ==
                        derivatives_of(floats.view(), 1.5, five, rule));
    };
    expect_same(Picture<std::uint8_t>(image, 3).fill_random(6, 255));
    expect_same(Picture<std::uint16_t>(image, 5).fill_random(7, 65535));
}

/// The image x^p y^q, with the origin at the centre.
Picture<float> polynomial(ImageShape image, int p, int q) {
    Picture<float> picture(image);
    return std::move(picture.fill([=](Elements x, Elements y) {
        return std::pow(static_cast<double>(x - image.width / 2), p) *
               std::pow(static_cast<double>(y - image.height / 2), q);
    }));
}

TEST(GaussianDerivatives, by_the_p3pc_kernel_are_exact_for_polynomials_up_to_their_order) {
    const ImageShape image{27, 25};
    const Elements x = image.width / 2, y = image.height / 2;
    for (const double sigma : {.5, 1., 2.}) {
        for (const auto& [i, j, none] : every_derivative()) {
            for (int p = 0; p <= i; ++p) {
                for (int q = 0; q <= j; ++q) {
                    const auto picture = polynomial(image, p, q);
                    const Planes planes =
                        derivatives_of(picture.view(), sigma, {{{i, j}}}, {}, kernel::p3pc_kernel);
                    const double expected =
                        p == i && q == j ? std::tgamma(i + 1) * std::tgamma(j + 1) : 0;
                    const double largest = std::abs(static_cast<double>(picture.at(0, 0)));
                    EXPECT_NEAR(planes.at(0, x, y), expected, 4e-6 * (expected + largest))
                        << "orders " << i << ", " << j << " of x^" << p << " y^" << q;
                }
            }
        }
    }
}

TEST(GaussianDerivatives, of_a_separable_image_are_products_of_one_dimensional_ones) {
    const ImageShape image{70, 50};
    const auto f = random_picture({image.width, 1}, 8), g = random_picture({1, image.height}, 9);
    Picture<float> product(image);
    product.fill([&](Elements x, Elements y) { return f.at(x, 0) * g.at(0, y); });
    for (const auto& [i, j, none] : five) {
        const Planes both = derivatives_of(product.view(), 2, {{{i, j}}});
        const Planes across = derivatives_of(f.view(), 2, {{{i, 0}}});
        const Planes down = derivatives_of(g.view(), 2, {{{0, j}}});
        for (Elements y = 0; y < image.height; ++y) {
            for (Elements x = 0; x < image.width; ++x)
                ASSERT_NEAR(both.at(0, x, y), across.at(0, x, 0) * down.at(0, 0, y), 1e-6);
        }
    }
}

TEST(GaussianDerivatives, have_no_slope_across_a_mirrored_border) {
    const auto picture = random_picture({33, 21}, 10);
    const Planes planes = derivatives_of(picture.view(), 2, five, {Border::mirror, 0});
    for (Elements y = 0; y < 21; ++y) {
        EXPECT_EQ(planes.at(0, 0, y), 0);
        EXPECT_EQ(planes.at(0, 32, y), 0);
    }
    for (Elements x = 0; x < 33; ++x)
        EXPECT_EQ(planes.at(1, x, 20), 0);
}

TEST(GaussianDerivatives, are_NaN_exactly_where_a_weighted_sample_is_NaN) {
    const ImageShape image{140, 31};
    auto picture = random_picture(image, 11);
    const Elements at_x = 65, at_y = 15;
    picture.at(at_x, at_y) = -std::numeric_limits<float>::quiet_NaN();
    const auto counts = [](Elements distance, int order) {
        return std::abs(distance) <= kernel::gaussian_reach(1, order) &&
               (order % 2 == 0 || distance != 0);
    };
    const auto wanted = every_derivative();
    const Planes planes = derivatives_of(picture.view(), 1, wanted);
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        for (Elements y = 0; y < image.height; ++y) {
            for (Elements x = 0; x < image.width; ++x)
                ASSERT_EQ(std::isnan(planes.at(k, x, y)),
                          counts(x - at_x, wanted[k].x) && counts(y - at_y, wanted[k].y))
                    << wanted[k].x << ", " << wanted[k].y << " at " << x << ", " << y;
        }
    }
}

std::string refusal(const std::function<void()>& attempt) {
    return test::message_of<InvalidTask>([&] { attempt(); });
}

TEST(GaussianDerivatives, with_invalid_options_are_refused) {
    const auto made = [](double sigma, std::vector<Derivative> wanted) {
        return refusal([=] { GaussianDerivatives(sigma, wanted); });
    };
    EXPECT_EQ(made(.1, five), "sigma is 0.1, expected 0.5 to 1000 pixels");
    EXPECT_EQ(made(1, {{5, 0}}), "the order of the derivative is 5, expected 0 to 4");
    EXPECT_EQ(made(1, {{0, -1}}), "the order of the derivative is -1, expected 0 to 4");
    EXPECT_EQ(made(1, {}), "no Gaussian derivatives given: expected at least one");
    EXPECT_THAT(made(1, {{1, 0}, {0, 1}, {1, 0}}), HasSubstr("orders 1, 0 is requested twice"));
}

TEST(GaussianDerivatives, refuse_incomplete_input_before_writing_any_sample) {
    const ImageShape image{40, 30};
    const auto picture = random_picture(image, 12);
    GaussianDerivatives derivatives(1, five);
    Planes planes(five.size(), image);
    const Planes untouched = planes;
    const auto applied = [&](const SampleView& input, const Tile& tile, std::vector<Plane> to) {
        return refusal([&] { derivatives.apply(input, tile, to); });
    };
    const Tile tile{10, 8, 6, 5};
    const auto lacking = picture.cut({5, 3, 16, 14});
    EXPECT_EQ(applied(lacking.view(), tile, planes.of(tile)),
              "Gaussian derivatives for 6x5 samples at (10, 8) require 16x15 samples at "
              "(5, 3), got 16x14 samples at (5, 3)");
    EXPECT_EQ(applied(picture.view(), {36, 0, 5, 1}, planes.of({})),
              "Gaussian derivatives are requested for 5x1 samples at (36, 0), expected a tile "
              "within 40x30");
    EXPECT_EQ(applied(picture.view(), {0, 0, -1, 1}, planes.of({})).substr(0, 44),
              "Gaussian derivatives are requested for -1x1 ");
    EXPECT_EQ(applied(picture.view(), tile, {}),
              "0 planes for 5 Gaussian derivatives, expected one per derivative");
    auto narrow = planes.of(tile);
    narrow[3].stride = 5;
    EXPECT_EQ(applied(picture.view(), tile, narrow),
              "a stride of 5 is too small for a plane of 6x5 samples at (10, 8)");
    EXPECT_TRUE(planes == untouched);
}

} // namespace
} // namespace sextant::test
