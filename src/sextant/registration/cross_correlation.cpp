// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/cross_correlation.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

/// T and ∇T at one place, bilinear; the slope is 0 along an axis on which the place lies outside.
struct Sampled {
    double value, dx, dy;
};

Sampled sampled(const Nodal& t, ImageShape nodes, double x, double y) {
    const auto cell = [](double at, std::int64_t count) {
        return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(at)), 0, count - 2);
    };
    const double in_x = std::clamp(x, 0., static_cast<double>(nodes.width - 1));
    const double in_y = std::clamp(y, 0., static_cast<double>(nodes.height - 1));
    const auto i = cell(in_x, nodes.width), j = cell(in_y, nodes.height);
    const double a = in_x - static_cast<double>(i), b = in_y - static_cast<double>(j);
    const double* const above = &t[static_cast<std::size_t>(j * nodes.width + i)];
    const double* const below = above + nodes.width;
    return {(1 - b) * ((1 - a) * above[0] + a * above[1]) + b * ((1 - a) * below[0] + a * below[1]),
            x == in_x ? (1 - b) * (above[1] - above[0]) + b * (below[1] - below[0]) : 0,
            y == in_y ? (1 - a) * (below[0] - above[0]) + a * (below[1] - above[1]) : 0};
}

Nodal composed(const Nodal& t, ImageShape nodes, const NodalVectors& phi) {
    Nodal values(t.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = sampled(t, nodes, phi.x[i], phi.y[i]).value;
    return values;
}

} // namespace

CrossCorrelation::CrossCorrelation(BilinearElements elements, const Nodal& reference, Nodal templ)
    : elements_(elements), template_(std::move(templ)) {
    if (reference.size() != elements_.count() || template_.size() != elements_.count())
        throw InvalidTask(fmt::format("images of {} and {} values on {} nodes", reference.size(),
                                      template_.size(), elements_.count()));
    Normalised made = normalised(reference);
    if (made.deviation == 0)
        throw InvalidTask("the reference is constant: nothing can be registered to it");
    reference_ = std::move(made.values);
}

double CrossCorrelation::product(const Nodal& f, const Nodal& g) const {
    const Nodal mass = elements_.mass(g);
    return std::inner_product(f.begin(), f.end(), mass.begin(), 0.) / elements_.area();
}

CrossCorrelation::Normalised CrossCorrelation::normalised(const Nodal& f) const {
    const double mean = product(Nodal(f.size(), 1), f);
    Nodal values = f;
    for (double& value : values)
        value -= mean;
    const double variance = product(values, values);
    // Rounding leaves the differences of a constant from its mean, which are no contrast.
    if (!(variance > 1e-24 * mean * mean))
        return {Nodal(f.size(), 0), 0};
    const double deviation = std::sqrt(variance);
    for (double& value : values)
        value /= deviation;
    return {std::move(values), deviation};
}

double CrossCorrelation::value(const NodalVectors& phi) const {
    return product(reference_, normalised(composed(template_, elements_.nodes(), phi)).values);
}

NodalVectors CrossCorrelation::derivative(const NodalVectors& phi) const {
    const Normalised moved = normalised(composed(template_, elements_.nodes(), phi));
    NodalVectors force{Nodal(phi.x.size(), 0), Nodal(phi.x.size(), 0)};
    if (moved.deviation == 0)
        return force;
    const double ncc = product(reference_, moved.values);
    Nodal w(phi.x.size());
    for (std::size_t i = 0; i < w.size(); ++i)
        w[i] = (reference_[i] - ncc * moved.values[i]) / moved.deviation;
    const Nodal mass_w = elements_.mass(w);
    for (std::size_t i = 0; i < w.size(); ++i) {
        const Sampled at = sampled(template_, elements_.nodes(), phi.x[i], phi.y[i]);
        force.x[i] = mass_w[i] * at.dx / elements_.area();
        force.y[i] = mass_w[i] * at.dy / elements_.area();
    }
    return force;
}

} // namespace sextant::registration
