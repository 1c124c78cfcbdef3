// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/bilinear_elements.hpp"

namespace sextant::registration {

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

} // namespace sextant::registration
