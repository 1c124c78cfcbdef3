// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/thesis_energy.hpp"

#include <cmath>
#include <numeric>
#include <span>

namespace sextant::registration {

namespace {

/// Calls `body` with every node's index and coordinates, counted in nodes.
template <class Body>
void for_each_node(ImageShape nodes, Body body) {
    std::size_t i = 0;
    for (std::int64_t y = 0; y < nodes.height; ++y) {
        for (std::int64_t x = 0; x < nodes.width; ++x)
            body(i++, Point{static_cast<double>(x), static_cast<double>(y)});
    }
}

/// x − c of a node, in units of the domain.
Point arm(Point node, double spacing, Point c) {
    return {node.x * spacing - c.x, node.y * spacing - c.y};
}

NodalVectors moved_rigidly(const BilinearElements& elements, Point c, const Parameters& p) {
    NodalVectors phi{Nodal(elements.count()), Nodal(elements.count())};
    const double h = elements.spacing();
    const RigidMotion motion{p[0], p[1], p[2]};
    for_each_node(elements.nodes(), [&](std::size_t i, Point node) {
        const Point to = apply(motion, {node.x * h, node.y * h}, c);
        phi.x[i] = to.x / h;
        phi.y[i] = to.y / h;
    });
    return phi;
}

double mean_square_arm(const BilinearElements& elements, Point c) {
    double sum = 0;
    for_each_node(elements.nodes(), [&](std::size_t, Point node) {
        const Point v = arm(node, elements.spacing(), c);
        sum += v.x * v.x + v.y * v.y;
    });
    return sum / static_cast<double>(elements.count());
}

Parameters rigid_derivative(const CrossCorrelation& images, Point c, const Parameters& p) {
    const BilinearElements& elements = images.elements();
    const NodalVectors force = images.derivative(moved_rigidly(elements, c, p));
    const double cosine = std::cos(p[0]), sine = std::sin(p[0]);
    double alpha = 0, x = 0, y = 0;
    for_each_node(elements.nodes(), [&](std::size_t i, Point node) {
        const Point v = arm(node, elements.spacing(), c);
        alpha += force.x[i] * (-sine * v.x - cosine * v.y) +
                 force.y[i] * (cosine * v.x - sine * v.y); // R′(α)(x − c)
        x += force.x[i];
        y += force.y[i];
    });
    const double unit = -1 / elements.spacing();
    return {unit * alpha, unit * x, unit * y};
}

/// The two halves of the parameters of a field.
struct Halves {
    std::span<const double> x, y;
};

Halves halves(const Parameters& u) {
    const std::span<const double> all(u);
    return {all.first(u.size() / 2), all.subspan(u.size() / 2)};
}

NodalVectors displaced(const BilinearElements& elements, const Parameters& u) {
    NodalVectors phi{Nodal(elements.count()), Nodal(elements.count())};
    const auto [ux, uy] = halves(u);
    for_each_node(elements.nodes(), [&, ux = ux, uy = uy](std::size_t i, Point node) {
        phi.x[i] = node.x + ux[i] / elements.spacing();
        phi.y[i] = node.y + uy[i] / elements.spacing();
    });
    return phi;
}

Parameters joined(Nodal x, const Nodal& y) {
    x.insert(x.end(), y.begin(), y.end());
    return x;
}

Parameters stiffness(const BilinearElements& elements, const Parameters& u) {
    const auto [x, y] = halves(u);
    return joined(elements.stiffness(x), elements.stiffness(y));
}

double dirichlet(const BilinearElements& elements, const Parameters& u) {
    const Parameters lu = stiffness(elements, u);
    return std::inner_product(u.begin(), u.end(), lu.begin(), 0.) / 2;
}

Parameters nonrigid_derivative(const CrossCorrelation& images, double lambda, const Parameters& u) {
    const BilinearElements& elements = images.elements();
    NodalVectors force = images.derivative(displaced(elements, u));
    Parameters derivative = joined(std::move(force.x), force.y);
    const Parameters lu = stiffness(elements, u);
    for (std::size_t i = 0; i < derivative.size(); ++i)
        derivative[i] = lambda * lu[i] - derivative[i] / elements.spacing();
    return derivative;
}

} // namespace

Functional rigid_energy(const CrossCorrelation& images, Point c) {
    const double weight = mean_square_arm(images.elements(), c);
    return {[&images, c](const Parameters& p) {
                return -images.value(moved_rigidly(images.elements(), c, p));
            },
            [&images, c](const Parameters& p) { return rigid_derivative(images, c, p); },
            [weight](const Parameters& e, double) {
                return Parameters{e[0] / weight, e[1], e[2]};
            }};
}

Functional nonrigid_energy(const CrossCorrelation& images, double lambda) {
    return {
        [&images, lambda](const Parameters& u) {
            return lambda * dirichlet(images.elements(), u) -
                   images.value(displaced(images.elements(), u));
        },
        [&images, lambda](const Parameters& u) { return nonrigid_derivative(images, lambda, u); },
        [&images](const Parameters& e, double s) {
            const auto [x, y] = halves(e);
            return joined(images.elements().smoothed(x, s), images.elements().smoothed(y, s));
        }};
}

} // namespace sextant::registration
