// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/gradient_flow.hpp"

#include <cmath>
#include <numeric>
#include <utility>

namespace sextant::registration {

namespace {

constexpr double smallest_step = 0x1p-30, largest_step = 0x1p25;

Parameters moved(const Parameters& from, double step, const Parameters& direction) {
    Parameters to(from.size());
    for (std::size_t i = 0; i < from.size(); ++i)
        to[i] = from[i] + step * direction[i];
    return to;
}

/// E along one direction of descent.
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

/// A length of 0 where none holds.
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

} // namespace sextant::registration
