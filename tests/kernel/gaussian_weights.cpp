// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/filter/gaussian_weights.hpp"

#include "sextant/core/error.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using kernel::gaussian_reach;
using kernel::gaussian_weights;
using kernel::GaussianKernel;
using kernel::p3pc_kernel;

const std::vector<GaussianKernel> kernels = {{},
                                             p3pc_kernel,
                                             {GaussianKernel::Weights::truncated, 4},
                                             {GaussianKernel::Weights::truncated, .3}};

const std::vector<double> scales = {.5, .55, .6, .75, 1, 1.3, 2, 3, 5, 8.5, 40};

double moment(const std::vector<double>& weights, int power) {
    const int reach = static_cast<int>(weights.size() / 2);
    double sum = 0;
    for (int i = -reach; i <= reach; ++i)
        sum += weights[static_cast<std::size_t>(i + reach)] * std::pow(i, power);
    return sum;
}

double largest_term(const std::vector<double>& weights, int power) {
    const int reach = static_cast<int>(weights.size() / 2);
    double largest = 0;
    for (int i = -reach; i <= reach; ++i)
        largest = std::max(
            largest, std::abs(weights[static_cast<std::size_t>(i + reach)] * std::pow(i, power)));
    return largest;
}

TEST(GaussianWeights, of_the_p3pc_kernel_have_the_published_lengths) {
    const auto size = [](double sigma, int order) {
        return gaussian_weights(sigma, order, p3pc_kernel).size();
    };
    const std::vector<std::vector<std::size_t>> published = {{7, 9, 9}, {15, 23, 25}, {23, 37, 39}};
    for (std::size_t row = 0; row < 3; ++row) {
        for (int order = 0; order <= 2; ++order)
            EXPECT_EQ(size(std::vector<double>{1, 3, 5}[row], order),
                      published[row][static_cast<std::size_t>(order)]);
    }
    EXPECT_EQ(size(1, 3), 11U);
    EXPECT_EQ(size(5, 4), 43U);
}

TEST(GaussianWeights, reach_at_least_as_far_for_a_higher_order) {
    for (const GaussianKernel& kernel : kernels) {
        for (double sigma = .5; sigma < 30; sigma += .01) {
            for (int order = 0; order < kernel::highest_order; ++order)
                ASSERT_LE(gaussian_reach(sigma, order, kernel),
                          gaussian_reach(sigma, order + 1, kernel))
                    << sigma;
        }
    }
}

TEST(GaussianWeights, with_truncation_reach_as_far_as_those_of_scipy) {
    const auto reach = [](double sigma, double truncation) {
        return gaussian_reach(sigma, 2, {GaussianKernel::Weights::truncated, truncation});
    };
    EXPECT_EQ(reach(1, 4), 4); // int(truncate * sigma + .5)
    EXPECT_EQ(reach(5.5, 4), 22);
    EXPECT_EQ(reach(.6, 4), 2);
    EXPECT_EQ(reach(2.2, 3), 7);
    EXPECT_EQ(reach(1, .4), 0);
    EXPECT_EQ(gaussian_weights(1, 0, {GaussianKernel::Weights::truncated, .4}),
              std::vector<double>{1});
}

TEST(GaussianWeights, have_the_same_moments_as_weights_truncated_at_8_sigma) {
    for (const double sigma : scales) {
        for (int order = 0; order <= kernel::highest_order; ++order) {
            const auto weights = gaussian_weights(sigma, order);
            const auto whole =
                gaussian_weights(sigma, order, {GaussianKernel::Weights::truncated, 8});
            EXPECT_LT(weights.size(), whole.size());
            for (int power = 0; power <= order; ++power)
                EXPECT_NEAR(moment(weights, power), moment(whole, power),
                            1e-12 * std::max(1., largest_term(weights, power)))
                    << "order " << order << " of x^" << power << ", sigma " << sigma;
        }
    }
}

TEST(GaussianWeights, of_the_p3pc_kernel_differentiate_polynomials_exactly) {
    for (const double sigma : scales) {
        for (int order = 0; order <= kernel::highest_order; ++order) {
            const auto weights = gaussian_weights(sigma, order, p3pc_kernel);
            for (int power = 0; power <= order; ++power) {
                const double expected = power == order ? std::tgamma(order + 1) : 0;
                EXPECT_NEAR(moment(weights, power), expected,
                            1e-12 * std::max(1., largest_term(weights, power)))
                    << "order " << order << " of x^" << power << ", sigma " << sigma;
            }
        }
    }
}

TEST(GaussianWeights, are_exactly_symmetric_for_even_and_antisymmetric_for_odd_orders) {
    for (const GaussianKernel& kernel : kernels) {
        for (const double sigma : scales) {
            for (int order = 0; order <= kernel::highest_order; ++order) {
                const auto weights = gaussian_weights(sigma, order, kernel);
                const double sign = order % 2 == 0 ? 1 : -1;
                for (std::size_t i = 0; i < weights.size(); ++i)
                    ASSERT_EQ(weights[i], sign * weights[weights.size() - 1 - i]);
            }
        }
    }
}

TEST(GaussianWeights, of_the_p3pc_kernel_equal_gaussian_derivatives_except_for_the_tails) {
    const double sigma = 5;
    const auto gaussian = [&](double x) {
        return std::exp(-x * x / (2 * sigma * sigma)) / (sigma * std::sqrt(2 * std::numbers::pi));
    };
    const auto smooth = gaussian_weights(sigma, 0, p3pc_kernel);
    EXPECT_NEAR(gaussian(0) / smooth[smooth.size() / 2], std::erf(2.3 / std::sqrt(2.)), 1e-3)
        << "the weight beyond 11.5 of 5 pixels is redistributed";
    const auto slope = gaussian_weights(sigma, 1, p3pc_kernel);
    const auto bend = gaussian_weights(sigma, 2, p3pc_kernel);
    for (int i = -18; i <= 18; ++i) {
        const double x = i / sigma;
        EXPECT_NEAR(slope[static_cast<std::size_t>(i + 18)], x / sigma * gaussian(i), 1e-4);
        EXPECT_NEAR(bend[static_cast<std::size_t>(i + 19)],
                    (x * x - 1) / (sigma * sigma) * gaussian(i), 1e-4);
    }
}

TEST(GaussianWeights, with_a_scale_or_order_out_of_range_are_refused) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    for (const double sigma : {-.001, 1000.5, infinite, nan})
        EXPECT_THROW(gaussian_weights(sigma, 0), InvalidTask) << sigma;
    for (const double sigma : {.499, 0., -1., 1000.5, infinite, nan})
        EXPECT_THROW(gaussian_weights(sigma, 1), InvalidTask) << sigma;
    for (const double sigma : {.499, 0.})
        EXPECT_THROW(gaussian_weights(sigma, 0, p3pc_kernel), InvalidTask) << sigma;
    for (const double truncation : {-.1, 20.5, infinite, nan})
        EXPECT_THROW(gaussian_reach(1, 1, {GaussianKernel::Weights::truncated, truncation}),
                     InvalidTask);
    for (const int order : {-1, 5})
        EXPECT_THROW(gaussian_reach(1, order), InvalidTask) << order;
    EXPECT_EQ(test::message_of<InvalidTask>([&] { gaussian_weights(.25, 1); }),
              "sigma is 0.25, expected 0.5 to 1000 pixels");
}

} // namespace
} // namespace sextant::test
