// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"

#include <functional>
#include <span>
#include <vector>

namespace sextant::registration {

/// A value for each node of a grid, row after row.
using Nodal = std::vector<double>;

/// Piecewise bilinear finite elements whose nodes are the pixel centres of an image, `spacing`
/// apart in units of the domain: its mass matrix M_ij = ∫ψ_i ψ_j and its stiffness matrix
/// L_ij = ∫∇ψ_i·∇ψ_j, which are M_x⊗M_y and L_x⊗M_y + M_x⊗L_y, so that no matrix is ever stored.
/// Requires  at least two nodes along each axis, spacing > 0; otherwise throws InvalidTask.
class BilinearElements {
  public:
    BilinearElements(ImageShape nodes, double spacing);

    ImageShape nodes() const { return nodes_; }
    std::size_t count() const { return static_cast<std::size_t>(nodes_.elements()); }
    double spacing() const { return spacing_; }
    /// |Ω|, of the hull of the nodes.
    double area() const;

    /// M f.
    Nodal mass(std::span<const double> f) const;
    /// L f.
    Nodal stiffness(std::span<const double> f) const;
    /// The d with (M + s²/2 L) d = load: what −Δ of the H¹ metric is with Neumann's condition.
    /// Cost  two cosine transforms along each axis: in cosines both matrices are diagonal.
    Nodal smoothed(std::span<const double> load, double s) const;

  private:
    ImageShape nodes_;
    double spacing_;
};

/// A vector for each node.
struct NodalVectors {
    Nodal x, y;
};

/// The normalised cross-correlation of R and T∘φ, each the element function of its values at the
/// nodes: NCC[f, g] = (1/|Ω|) ∫ (f − f̄)/σ_f · (g − ḡ)/σ_g, in [−1, 1]; 0 where T∘φ is constant.
/// In matrices f̄ = 1ᵀMf/|Ω|, σ_f² = (f − f̄)ᵀM(f − f̄)/|Ω|.
/// Where φ leads out of the image, T has the value of the border's nearest point.
/// Requires  as many values as nodes, R not constant; otherwise throws InvalidTask.
class CrossCorrelation {
  public:
    CrossCorrelation(BilinearElements elements, const Nodal& reference, Nodal templ);

    const BilinearElements& elements() const { return elements_; }
    /// Of φ at the nodes, in pixels of the grid.
    double value(const NodalVectors& phi) const;
    /// How the value grows with φ at each node, per pixel: (1/|Ω|) (M w)_i ∇T(φ_i) with
    /// w = (R̃ − NCC·T̃_φ)/σ_{T∘φ}, the exact derivative of `value`.
    NodalVectors derivative(const NodalVectors& phi) const;

  private:
    struct Normalised {
        Nodal values;
        double deviation;
    };
    Normalised normalised(const Nodal& f) const;
    double product(const Nodal& f, const Nodal& g) const;

    BilinearElements elements_;
    Nodal reference_; // normalised
    Nodal template_;
};

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
