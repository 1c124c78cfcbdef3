// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/filter/gaussian_weights.hpp"

#include "sextant/core/error.hpp"

#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace sextant::kernel {

namespace {

void check(double sigma, int order) {
    if (!(sigma >= smallest_sigma && sigma <= largest_sigma))
        throw InvalidTask(fmt::format("sigma is {}, expected {} to {} pixels", sigma,
                                      smallest_sigma, largest_sigma));
    if (order < 0 || order > highest_order)
        throw InvalidTask(
            fmt::format("a derivative of order {}, expected 0 to {}", order, highest_order));
}

using Samples = std::vector<double>;

/// Σ a² g.
double norm(const Samples& a, const Samples& g) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        sum += a[i] * a[i] * g[i];
    return sum;
}

/// The polynomial of degree `order` with leading coefficient 1 that is orthogonal under g to all of
/// lower degree, by the recurrence p_{n+1}(x) = x p_n(x) − (‖p_n‖² / ‖p_{n−1}‖²) p_{n−1}(x).
Samples orthogonal(const Samples& positions, const Samples& g, int order) {
    Samples before(g.size(), 0), now(g.size(), 1);
    double norm_before = 1;
    for (int degree = 0; degree < order; ++degree) {
        const double norm_now = norm(now, g);
        for (std::size_t i = 0; i < g.size(); ++i) {
            before[i] = positions[i] * now[i] - norm_now / norm_before * before[i];
        }
        std::swap(before, now);
        norm_before = norm_now;
    }
    return now;
}

} // namespace

int gaussian_reach(double sigma, int order) {
    check(sigma, order);
    switch (order) {
    case 0:
        return static_cast<int>(std::floor(2 * sigma + 1));
    case 1:
        return static_cast<int>(std::floor(3.5 * sigma + .5));
    case 2:
        return static_cast<int>(std::round(3.75 * sigma + .5));
    default:
        return static_cast<int>(std::round(4 * sigma + 1));
    }
}

std::vector<double> gaussian_weights(double sigma, int order) {
    const int reach = gaussian_reach(sigma, order);
    Samples positions(static_cast<std::size_t>(2 * reach + 1));
    std::iota(positions.begin(), positions.end(), -reach);
    Samples g;
    for (const double x : positions)
        g.push_back(std::exp(-x * x / (2 * sigma * sigma)));
    Samples weights = orthogonal(positions, g, order);
    const double scale = std::tgamma(order + 1) / norm(weights, g);
    for (std::size_t i = 0; i < g.size(); ++i)
        weights[i] *= g[i] * scale;
    return weights;
}

} // namespace sextant::kernel
