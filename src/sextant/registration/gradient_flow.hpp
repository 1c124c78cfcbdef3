// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <vector>

namespace sextant::registration {

using Parameters = std::vector<double>;

/// What a gradient flow descends.
struct Functional {
    std::function<double(const Parameters&)> energy;
    /// ⟨E′, ζ_i⟩ for the direction ζ_i of each parameter.
    std::function<Parameters(const Parameters&)> derivative;
    /// A⁻¹E′ in a metric that smooths over lengths of s.
    std::function<Parameters(const Parameters&, double s)> in_metric;
};

struct FlowOptions {
    int iterations = 500;      ///< at most
    double stop = 1e-6;        ///< the drop in energy of one step at which the flow ends
    double scale = 1;          ///< s at first; for metrics without a scale it has no effect
    double halve_scale = 1e-5; ///< the drop below which s is halved and the step starts anew
};

struct Flow {
    Parameters parameters;
    std::vector<double> energies; ///< at the start, and after each step
    int iterations() const { return static_cast<int>(energies.size()) - 1; }
};

/// The gradient flow ∂φ/∂t = −A⁻¹E′[φ] by explicit Euler steps φ ← φ − τ A⁻¹E′, τ by Armijo's rule
/// with widening: it holds for τ where (Φ(τ) − Φ(0)) / (Φ′(0) τ) ≥ ½, Φ(τ) = E[φ − τ A⁻¹E′], a tie
/// counting as held. From the last τ on it is doubled while the rule holds and the energy falls, or
/// halved until it holds. The flow ends when a step gains no more than `stop`, when no τ of at
/// least 2⁻³⁰ holds, or after so many iterations. The energy never rises.
/// Deterministic  as far as the functional is.
/// Source    Berkels, Binev, Blom, Dahmen, Sharpley, Vogt, Ultramicroscopy 138, 2014,
///           doi:10.1016/j.ultramic.2013.11.007
Flow gradient_flow(const Functional& functional, Parameters start, const FlowOptions& options);

} // namespace sextant::registration
