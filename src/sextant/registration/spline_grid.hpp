// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"
#include "sextant/registration/banded_cholesky.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace sextant::registration {

/// The four cubic B-splines that are not 0 at a place, and their values there.
struct SplineBasis {
    std::size_t first = 0;
    std::array<double, 4> weight{};
};

/// Displacements w(x) = Σ B_i(x) B_j(y) c_ij with a control point, two numbers, every so many
/// pixels along each axis. The control points of the shorter axis are neighbours, so that energies
/// and normal equations have a small band.
/// Requires  an image of at least 2x2 pixels, spacing >= 1.
class SplineGrid {
  public:
    /// The spacing is made a little smaller, so that a whole number of intervals covers the image.
    SplineGrid(ImageShape image, double spacing);

    std::size_t columns() const { return x_.controls(); }
    std::size_t rows() const { return y_.controls(); }
    std::size_t unknowns() const { return 2 * columns() * rows(); }
    /// Of a matrix that couples splines which overlap.
    std::size_t band() const;
    /// The unknown of a control point along x; the next is that along y.
    std::size_t unknown(std::size_t column, std::size_t row) const;

    SplineBasis along_x(double x) const { return x_.at(x); }
    SplineBasis along_y(double y) const { return y_.at(y); }

    /// The K with cᵀKc = h² ∫‖D²w‖² + share ∫‖ε(w)‖², h the spacing: bending energy, which leaves
    /// affine displacements alone, and a share of that of the strain ε(w) = (Dw + Dwᵀ)/2, which
    /// leaves shifts and small turns and keeps the field from being continued as a stretch far into
    /// what is not known. Its null space has three dimensions.
    BandedMatrix energy(double share_of_strain) const;

  private:
    struct Axis {
        double spacing;
        std::size_t intervals;
        std::size_t controls() const { return intervals + 3; }
        SplineBasis at(double place) const;
        BandedMatrix gram(int derivative) const;
        using Slopes = std::vector<std::array<double, 7>>;
        Slopes slopes() const;
    };
    static Axis axis(std::int64_t pixels, double spacing);

    Axis x_, y_;
};

} // namespace sextant::registration
