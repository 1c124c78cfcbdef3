// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"

#include <functional>
#include <span>
#include <vector>

namespace sextant::papers {

/// One value per node of a grid, row by row.
using Nodal = std::vector<double>;

/// Piecewise bilinear finite elements. The nodes are the pixel centres of an image, `spacing` apart
/// in units of the domain. The mass matrix M_ij = ∫ψ_i ψ_j = M_x⊗M_y and the stiffness matrix L_ij
/// = ∫∇ψ_i·∇ψ_j = L_x⊗M_y + M_x⊗L_y are never stored. Throws InvalidTask unless there are at least
/// two nodes along each axis and spacing > 0.
class BilinearElements {
  public:
    BilinearElements(ImageShape nodes, double spacing);

    ImageShape nodes() const { return nodes_; }
    std::size_t count() const { return static_cast<std::size_t>(nodes_.elements()); }
    double spacing() const { return spacing_; }
    /// |Ω|, the area of the nodes' bounding rectangle.
    double area() const;

    /// Returns M f.
    Nodal mass(std::span<const double> f) const;
    /// Returns L f.
    Nodal stiffness(std::span<const double> f) const;
    /// Returns d with (M + s²/2 L) d = load: a gradient in a scaled H¹ metric, with Neumann
    /// boundary conditions.
    /// Cost      two cosine transforms along each axis; they diagonalise both matrices.
    Nodal smoothed(std::span<const double> load, double s) const;

  private:
    ImageShape nodes_;
    double spacing_;
};

/// One vector per node.
struct NodalVectors {
    Nodal x, y;
};

/// The normalised cross-correlation of R and T∘φ, both interpolated bilinearly from their values at
/// the nodes: NCC[f, g] = (1/|Ω|) ∫ (f − f̄)/σ_f · (g − ḡ)/σ_g, in [−1, 1]; 0 if T∘φ is constant. In
/// matrices, f̄ = 1ᵀMf/|Ω| and σ_f² = (f − f̄)ᵀM(f − f̄)/|Ω|. Outside the image, T has the value of
/// the nearest point on the border.
/// Throws    InvalidTask unless there are as many values as nodes and R is not constant.
class CrossCorrelation {
  public:
    CrossCorrelation(BilinearElements elements, const Nodal& reference, Nodal templ);

    const BilinearElements& elements() const { return elements_; }
    /// The correlation for a deformation with values `phi` at the nodes, in units of node spacings.
    double value(const NodalVectors& phi) const;
    /// The exact derivative of `value` with respect to φ at each node, per node spacing: (1/|Ω|) (M
    /// w)_i ∇T(φ_i) with w = (R̃ − NCC·T̃_φ)/σ_{T∘φ}.
    NodalVectors derivative(const NodalVectors& phi) const;

  private:
    struct Normalised {
        Nodal values;
        double deviation;
    };
    Normalised normalised(const Nodal& f) const;
    double product(const Nodal& f, const Nodal& g) const;

    BilinearElements elements_;
    Nodal reference_; // R, normalised
    Nodal template_;
};

using Parameters = std::vector<double>;

/// A functional E to be minimised by a gradient flow.
struct Functional {
    std::function<double(const Parameters&)> energy;
    /// ⟨E′, ζ_i⟩: the derivative with respect to each parameter i, whose direction is ζ_i.
    std::function<Parameters(const Parameters&)> derivative;
    /// A⁻¹E′: the gradient in the metric A, which smooths over lengths of s.
    std::function<Parameters(const Parameters&, double s)> in_metric;
};

struct FlowOptions {
    int iterations = 500;      ///< maximum number of iterations
    double stop = 1e-6;        ///< the flow ends when a step lowers the energy by at most this
    double scale = 1;          ///< initial s; metrics without a scale ignore it
    double halve_scale = 1e-5; ///< s is halved and τ reset if the energy drops by less than this
};

struct Flow {
    Parameters parameters;
    std::vector<double> energies; ///< initial energy, then the energy after each step
    int iterations() const { return static_cast<int>(energies.size()) - 1; }
};

/// The gradient flow ∂φ/∂t = −A⁻¹E′[φ] by explicit Euler steps φ ← φ − τ A⁻¹E′. The step size τ is
/// chosen by Armijo's rule: with Φ(τ) = E[φ − τ A⁻¹E′], it requires (Φ(τ) − Φ(0)) / (Φ′(0) τ) ≥ ½,
/// up to rounding. Starting from the previous step size, τ is doubled while the rule holds and the
/// energy falls, or halved until the rule holds. The flow ends when a step lowers the energy by no
/// more than `stop`, when the rule holds for no τ ≥ 2⁻³⁰, or after the maximum number of
/// iterations. The energy never increases.
/// Deterministic  if the functional is.
/// Source    Berkels, Binev, Blom, Dahmen, Sharpley, Vogt, Ultramicroscopy 138, 2014,
///           doi:10.1016/j.ultramic.2013.11.007
Flow gradient_flow(const Functional& functional, Parameters start, const FlowOptions& options);

} // namespace sextant::papers
