// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"

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

} // namespace sextant::registration
