// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "papers/thesis_elements.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using papers::Flow;
using papers::FlowOptions;
using papers::Functional;
using papers::Parameters;

/// Rosenbrock's function with the Euclidean metric.
Functional valley() {
    const auto square = [](double v) { return v * v; };
    return {
        [=](const Parameters& p) { return square(1 - p[0]) + 100 * square(p[1] - p[0] * p[0]); },
        [=](const Parameters& p) {
            const double steep = p[1] - p[0] * p[0];
            return Parameters{-2 * (1 - p[0]) - 400 * p[0] * steep, 200 * steep};
        },
        [](const Parameters& e, double) { return e; }};
}

void expect_that_energy_never_rises(const std::vector<double>& energies) {
    for (std::size_t i = 1; i < energies.size(); ++i)
        ASSERT_LE(energies[i], energies[i - 1]);
}

TEST(GradientFlow, follows_a_curved_valley_without_ever_increasing_the_energy) {
    FlowOptions options;
    options.stop = 0;
    options.iterations = 20000;
    const Flow flow = papers::gradient_flow(valley(), {-1.2, 1}, options);
    expect_that_energy_never_rises(flow.energies);
    EXPECT_LT(flow.energies.back(), 1e-6);
    EXPECT_NEAR(flow.parameters[0], 1, 1e-2);
}

TEST(GradientFlow, takes_the_longest_step_that_the_step_rule_allows) {
    // For E = a p², the rule allows steps up to τ = 1/(2a), which reaches E = 0 in one step.
    for (const double a : {.5, 1. / 4096, 4096.}) {
        const Functional bowl{[a](const Parameters& p) { return a * p[0] * p[0]; },
                              [a](const Parameters& p) { return Parameters{2 * a * p[0]}; },
                              [](const Parameters& e, double) { return e; }};
        FlowOptions options;
        options.iterations = 1;
        const Flow flow = papers::gradient_flow(bowl, {100}, options);
        EXPECT_EQ(flow.iterations(), 1);
        EXPECT_NEAR(flow.parameters[0], 0, 1e-12) << a;
    }
}

TEST(GradientFlow, ends_at_a_small_gain_the_step_limit_or_a_zero_gradient) {
    FlowOptions options;
    options.iterations = 7;
    options.stop = 0;
    EXPECT_EQ(papers::gradient_flow(valley(), {-1.2, 1}, options).iterations(), 7);
    options.stop = 1e6;
    EXPECT_EQ(papers::gradient_flow(valley(), {-1.2, 1}, options).iterations(), 1);
    options.stop = 1e-6;
    EXPECT_LE(papers::gradient_flow(valley(), {1, 1}, options).iterations(), 1);
}

TEST(GradientFlow, halves_the_scale_of_its_metric_when_gains_become_small) {
    std::vector<double> scales;
    Functional noted = valley();
    noted.in_metric = [&](const Parameters& e, double s) {
        scales.push_back(s);
        return e;
    };
    FlowOptions options;
    options.stop = 0;
    options.halve_scale = .01;
    options.iterations = 50;
    papers::gradient_flow(noted, {-1.2, 1}, options);
    EXPECT_EQ(scales.front(), 1);
    EXPECT_LT(scales.back(), 1);
    for (std::size_t i = 1; i < scales.size(); ++i)
        EXPECT_TRUE(scales[i] == scales[i - 1] || scales[i] == scales[i - 1] / 2);
}

} // namespace
} // namespace sextant::test
