// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/filter/gaussian_weights.hpp"

#include "sextant/core/error.hpp"

#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace sextant::kernel {

namespace {

using Samples = std::vector<double>;
using Weights = GaussianKernel::Weights;

void check(double sigma, int order, const GaussianKernel& kernel) {
    const bool smooths = order == 0 && kernel.weights != Weights::p3pc;
    if (!(sigma >= (smooths ? 0 : smallest_sigma) && sigma <= largest_sigma))
        throw InvalidTask(fmt::format("sigma is {}, expected {} to {} pixels", sigma,
                                      smooths ? 0 : smallest_sigma, largest_sigma));
    if (order < 0 || order > highest_order)
        throw InvalidTask(fmt::format("the order of the derivative is {}, expected 0 to {}", order,
                                      highest_order));
    if (!(kernel.truncation >= 0 && kernel.truncation <= largest_truncation))
        throw InvalidTask(fmt::format("the truncation radius is {} sigmas, expected 0 to {}",
                                      kernel.truncation, largest_truncation));
}

int reach_of_truncated(double sigma, double truncation) {
    return static_cast<int>(truncation * sigma + .5);
}

/// The integers from −reach to reach.
Samples positions_within(int reach) {
    Samples positions(static_cast<std::size_t>(2 * reach + 1));
    std::iota(positions.begin(), positions.end(), -reach);
    return positions;
}

/// exp(−x² / 2σ²).
Samples bell(double sigma, const Samples& positions) {
    Samples g;
    for (const double x : positions)
        g.push_back(std::exp(-x * x / (2 * sigma * sigma)));
    return g;
}

/// The Hermite polynomial He_k(x).
double hermite(int order, double x) {
    double before = 0, now = 1;
    for (int degree = 0; degree < order; ++degree)
        before = std::exchange(now, x * now - degree * before);
    return now;
}

Samples truncated_weights(double sigma, int order, int reach) {
    const Samples positions = positions_within(reach);
    Samples weights = bell(sigma, positions);
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.);
    const double scale = std::pow(sigma, -order) / sum;
    for (std::size_t i = 0; i < weights.size(); ++i)
        weights[i] *= hermite(order, positions[i] / sigma) * scale;
    return weights;
}

/// The inner product Σ a b g, weighted by g.
double product(const Samples& a, const Samples& b, const Samples& g) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        sum += a[i] * b[i] * g[i];
    return sum;
}

/// The monic polynomials of degree 0 … `order` that are orthogonal under g, by the recurrence
/// p_{n+1}(x) = x p_n(x) − (‖p_n‖² / ‖p_{n−1}‖²) p_{n−1}(x).
std::vector<Samples> orthogonal(const Samples& positions, const Samples& g, int order) {
    std::vector<Samples> all = {Samples(g.size(), 1)};
    Samples before(g.size(), 0);
    double norm_before = 1;
    for (int degree = 0; degree < order; ++degree) {
        const Samples now = all.back();
        const double norm_now = product(now, now, g);
        Samples next(g.size());
        for (std::size_t i = 0; i < g.size(); ++i)
            next[i] = positions[i] * now[i] - norm_now / norm_before * before[i];
        before = now;
        norm_before = norm_now;
        all.push_back(std::move(next));
    }
    return all;
}

Samples p3pc_weights(double sigma, int order, int reach) {
    const Samples positions = positions_within(reach);
    const Samples g = bell(sigma, positions);
    Samples weights = orthogonal(positions, g, order).back();
    const double scale = std::tgamma(order + 1) / product(weights, weights, g);
    for (std::size_t i = 0; i < g.size(); ++i)
        weights[i] *= g[i] * scale;
    return weights;
}

/// Weights within the reach whose moments include those of the tails beyond it: the tails are
/// projected onto polynomials that are orthogonal within the reach.
Samples accurate_weights(double sigma, int order, int reach) {
    constexpr double whole_truncation = 8;
    const int whole_reach = reach_of_truncated(sigma, whole_truncation);
    const Samples whole = truncated_weights(sigma, order, whole_reach);
    Samples positions = positions_within(whole_reach);
    for (double& x : positions)
        x /= sigma; // so that powers of all degrees have similar magnitudes
    const auto beyond = static_cast<std::size_t>(whole_reach - reach);
    const auto is_within = [&](std::size_t i) { return i >= beyond && i < whole.size() - beyond; };
    Samples g = bell(1, positions), tails = whole;
    for (std::size_t i = 0; i < whole.size(); ++i)
        (is_within(i) ? tails : g)[i] = 0;
    const Samples ones(whole.size(), 1);
    const std::vector<Samples> polynomials = orthogonal(positions, g, order);
    Samples weights(whole.begin() + static_cast<std::ptrdiff_t>(beyond),
                    whole.end() - static_cast<std::ptrdiff_t>(beyond));
    for (int degree = order % 2; degree <= order; degree += 2) {
        const Samples& p = polynomials[static_cast<std::size_t>(degree)];
        const double share = product(tails, p, ones) / product(p, p, g);
        for (std::size_t i = 0; i < weights.size(); ++i)
            weights[i] += share * p[beyond + i] * g[beyond + i];
    }
    return weights;
}

} // namespace

int gaussian_reach(double sigma, int order, const GaussianKernel& kernel) {
    check(sigma, order, kernel);
    switch (kernel.weights) {
    case Weights::gaussian:
        return reach_of_truncated(sigma, 4.6 + .42 * order);
    case Weights::truncated:
        return reach_of_truncated(sigma, kernel.truncation);
    case Weights::p3pc:
        break;
    }
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

std::vector<double> gaussian_weights(double sigma, int order, const GaussianKernel& kernel) {
    const int reach = gaussian_reach(sigma, order, kernel);
    if (order == 0 && reach == 0)
        return {1};
    switch (kernel.weights) {
    case Weights::truncated:
        return truncated_weights(sigma, order, reach);
    case Weights::p3pc:
        return p3pc_weights(sigma, order, reach);
    case Weights::gaussian:
        break;
    }
    return accurate_weights(sigma, order, reach);
}

} // namespace sextant::kernel
