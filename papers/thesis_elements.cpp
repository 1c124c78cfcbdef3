// SPDX-License-Identifier: BSD-3-Clause
#include "papers/thesis_elements.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <unsupported/Eigen/FFT>

namespace sextant::papers {

namespace {

/// A strided range of `count` values.
struct Line {
    double* first;
    std::size_t count, stride;
    double& operator[](std::size_t i) const { return first[i * stride]; }
};

template <class Body>
void for_each_row(Nodal& f, ImageShape nodes, Body body) {
    const auto width = static_cast<std::size_t>(nodes.width);
    for (std::size_t y = 0; y < static_cast<std::size_t>(nodes.height); ++y)
        body(Line{f.data() + y * width, width, 1});
}

template <class Body>
void for_each_column(Nodal& f, ImageShape nodes, Body body) {
    const auto width = static_cast<std::size_t>(nodes.width);
    for (std::size_t x = 0; x < width; ++x)
        body(Line{f.data() + x, static_cast<std::size_t>(nodes.height), width});
}

/// The tridiagonal matrix of linear elements on a line: `middle` on the diagonal, except for half
/// of `middle` in the first and last row, and `beside` next to the diagonal.
struct Tridiagonal {
    double middle, beside;

    void apply(const Line& f) const {
        double before = 0, now = f[0];
        for (std::size_t i = 0; i < f.count; ++i) {
            const bool last = i + 1 == f.count;
            const double after = last ? 0 : f[i + 1];
            const double diagonal = i == 0 || last ? middle / 2 : middle;
            f[i] = beside * (before + after) + diagonal * now;
            before = now;
            now = after;
        }
    }
    /// The eigenvalue, at inner nodes, of a cosine whose phase advances by θ from node to node.
    double eigenvalue(double theta) const { return middle + 2 * beside * std::cos(theta); }
};

Tridiagonal mass_1d(double h) {
    return {4 * h / 6, h / 6};
}

Tridiagonal stiffness_1d(double h) {
    return {2 / h, -1 / h};
}

/// Σ_i f_i cos(π k i / (n − 1)) for every k < n, by the Fourier transform of the even extension.
class CosineSums {
  public:
    void apply(const Line& f) {
        const std::size_t last = f.count - 1;
        even_.resize(2 * last);
        for (std::size_t i = 0; i < f.count; ++i)
            even_[i] = f[i];
        even_[0] *= 2;
        even_[last] *= 2;
        for (std::size_t i = 1; i < last; ++i)
            even_[2 * last - i] = f[i];
        transform_.fwd(spectrum_, even_);
        for (std::size_t k = 0; k < f.count; ++k)
            f[k] = spectrum_[k].real() / 2;
    }

  private:
    Eigen::FFT<double> transform_;
    std::vector<double> even_;
    std::vector<std::complex<double>> spectrum_;
};

void cosine_sums(Nodal& f, ImageShape nodes) {
    CosineSums sums;
    for_each_row(f, nodes, [&](const Line& line) { sums.apply(line); });
    for_each_column(f, nodes, [&](const Line& line) { sums.apply(line); });
}

/// The factor that converts the sum Σ_i b_i cos(π k i / (n − 1)) to the coefficient of cosine k.
double share(std::size_t k, std::size_t count) {
    const auto last = static_cast<double>(count - 1);
    return (k == 0 || k + 1 == count ? 1 : 2) / last;
}

Nodal copied(std::span<const double> f) {
    return {f.begin(), f.end()};
}

} // namespace

BilinearElements::BilinearElements(ImageShape nodes, double spacing)
    : nodes_(nodes), spacing_(spacing) {
    if (nodes.width < 2 || nodes.height < 2 || !(spacing > 0))
        throw InvalidTask(fmt::format("the finite elements have {}x{} nodes with spacing {}, "
                                      "expected at least 2x2 nodes and a positive spacing",
                                      nodes.width, nodes.height, spacing));
}

double BilinearElements::area() const {
    return static_cast<double>((nodes_.width - 1) * (nodes_.height - 1)) * spacing_ * spacing_;
}

Nodal BilinearElements::mass(std::span<const double> f) const {
    Nodal result = copied(f);
    const Tridiagonal m = mass_1d(spacing_);
    for_each_row(result, nodes_, [&](const Line& line) { m.apply(line); });
    for_each_column(result, nodes_, [&](const Line& line) { m.apply(line); });
    return result;
}

Nodal BilinearElements::stiffness(std::span<const double> f) const {
    const Tridiagonal m = mass_1d(spacing_), l = stiffness_1d(spacing_);
    Nodal along_x = copied(f), along_y = copied(f);
    for_each_row(along_x, nodes_, [&](const Line& line) { l.apply(line); });
    for_each_column(along_x, nodes_, [&](const Line& line) { m.apply(line); });
    for_each_row(along_y, nodes_, [&](const Line& line) { m.apply(line); });
    for_each_column(along_y, nodes_, [&](const Line& line) { l.apply(line); });
    for (std::size_t i = 0; i < along_x.size(); ++i)
        along_x[i] += along_y[i];
    return along_x;
}

Nodal BilinearElements::smoothed(std::span<const double> load, double s) const {
    const Tridiagonal m = mass_1d(spacing_), l = stiffness_1d(spacing_);
    const auto width = static_cast<std::size_t>(nodes_.width);
    const auto height = static_cast<std::size_t>(nodes_.height);
    Nodal f = copied(load);
    cosine_sums(f, nodes_);
    for (std::size_t j = 0; j < height; ++j) {
        const double y =
            std::numbers::pi * static_cast<double>(j) / static_cast<double>(height - 1);
        for (std::size_t i = 0; i < width; ++i) {
            const double x =
                std::numbers::pi * static_cast<double>(i) / static_cast<double>(width - 1);
            const double mass = m.eigenvalue(x) * m.eigenvalue(y);
            const double stiffness =
                l.eigenvalue(x) * m.eigenvalue(y) + m.eigenvalue(x) * l.eigenvalue(y);
            f[j * width + i] *= share(i, width) * share(j, height) / (mass + s * s / 2 * stiffness);
        }
    }
    cosine_sums(f, nodes_);
    return f;
}

namespace {

/// T and ∇T at a point, by bilinear interpolation. Along each axis on which the point is outside
/// the image, the derivative is 0.
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
        throw InvalidTask(
            fmt::format("the images have {} and {} values, expected one value for each of {} nodes",
                        reference.size(), template_.size(), elements_.count()));
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
    // A smaller variance is only rounding error, so the image is constant.
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

namespace {

constexpr double smallest_step = 0x1p-30, largest_step = 0x1p25;

Parameters moved(const Parameters& from, double step, const Parameters& direction) {
    Parameters to(from.size());
    for (std::size_t i = 0; i < from.size(); ++i)
        to[i] = from[i] + step * direction[i];
    return to;
}

/// The functional along a descent direction: Φ(τ).
struct Descent {
    const Functional& functional;
    const Parameters& from;
    const Parameters& direction;
    double energy;     // Φ(0)
    double derivative; // Φ′(0), not positive

    double at(double step) const { return functional.energy(moved(from, step, direction)); }
    bool holds(double step, double energy_there) const {
        const double slack = 1e-12 * std::abs(energy);
        return energy_there - energy <= derivative * step / 2 + slack && energy_there <= energy;
    }
};

struct Step {
    double length, energy;
};

Step widened(const Descent& descent, Step step) {
    while (step.length < largest_step) {
        const double wider = 2 * step.length;
        const double energy = descent.at(wider);
        if (!descent.holds(wider, energy) || !(energy < step.energy))
            break;
        step = {wider, energy};
    }
    return step;
}

/// The step chosen by Armijo's rule; of length 0 if the rule holds for no step.
Step armijo(const Descent& descent, double first) {
    Step step{first, descent.at(first)};
    if (descent.holds(step.length, step.energy))
        return widened(descent, step);
    while (step.length > smallest_step) {
        step.length /= 2;
        step.energy = descent.at(step.length);
        if (descent.holds(step.length, step.energy))
            return step;
    }
    return {0, descent.energy};
}

} // namespace

Flow gradient_flow(const Functional& functional, Parameters start, const FlowOptions& options) {
    Flow flow{std::move(start), {}};
    flow.energies.push_back(functional.energy(flow.parameters));
    double scale = options.scale, length = 1;
    while (flow.iterations() < options.iterations) {
        const Parameters derivative = functional.derivative(flow.parameters);
        Parameters direction = functional.in_metric(derivative, scale);
        for (double& component : direction)
            component = -component;
        const double slope =
            std::inner_product(derivative.begin(), derivative.end(), direction.begin(), 0.);
        const double before = flow.energies.back();
        const Step step = armijo({functional, flow.parameters, direction, before, slope}, length);
        if (step.length == 0)
            break;
        flow.parameters = moved(flow.parameters, step.length, direction);
        flow.energies.push_back(step.energy);
        const double drop = before - step.energy;
        if (drop <= options.stop)
            break;
        const bool finer = drop < options.halve_scale;
        scale = finer ? scale / 2 : scale;
        length = finer ? 1 : step.length;
    }
    return flow;
}

} // namespace sextant::papers
