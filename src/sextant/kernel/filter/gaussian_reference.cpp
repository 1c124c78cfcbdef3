// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/filter/gaussian_reference.hpp"

namespace sextant::kernel {

namespace {

double sample(const SampleView& input, Elements x, Elements y, BorderRule rule) {
    const auto column = seen_at(rule.border, x, input.image.width);
    const auto row = seen_at(rule.border, y, input.image.height);
    if (!column || !row)
        return static_cast<double>(rule.constant);
    const Elements at = (*row - input.tile.y) * input.stride + *column - input.tile.x;
    return std::visit([at](const auto* first) { return static_cast<double>(first[at]); },
                      input.first);
}

} // namespace

double gaussian_derivative(const SampleView& input, Elements x, Elements y, double sigma,
                           Derivative derivative, BorderRule rule, const GaussianKernel& kernel) {
    const std::vector<double> weights_x = gaussian_weights(sigma, derivative.x, kernel);
    const std::vector<double> weights_y = gaussian_weights(sigma, derivative.y, kernel);
    const int reach_x = gaussian_reach(sigma, derivative.x, kernel);
    const int reach_y = gaussian_reach(sigma, derivative.y, kernel);
    double sum = 0;
    for (int j = -reach_y; j <= reach_y; ++j) {
        for (int i = -reach_x; i <= reach_x; ++i) {
            const double weight = weights_y[static_cast<std::size_t>(j + reach_y)] *
                                  weights_x[static_cast<std::size_t>(i + reach_x)];
            if (weight != 0) // 0 times NaN is NaN: what has no weight does not count
                sum += weight * sample(input, x + i, y + j, rule);
        }
    }
    return sum;
}

} // namespace sextant::kernel
