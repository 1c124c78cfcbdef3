// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/thread_team.hpp"
#include "sextant/core/image.hpp"
#include "sextant/kernel/fit/cell_sums.hpp"
#include "sextant/registration/banded_cholesky.hpp"
#include "sextant/registration/motion.hpp"

#include <array>
#include <cstddef>
#include <span>
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

/// What the splines of a control grid are on the cells of one level of a pyramid: values at the
/// corners of cells, and sums over cells brought to control points. A level's pixel is `unit`
/// pixels of the image wide; coefficients are in pixels of the image. A team shares rows.
/// Deterministic  the same bits for any number of threads.
class SplineCells {
  public:
    /// Refers to the grid, which must live as long as it. A team stays.
    SplineCells(const SplineGrid& grid, ImageShape level, double unit, Team* team = nullptr);

    /// u of φ(x) = motion(x) + w(x) at the corners of cells, in pixels of the level.
    void displacements(std::span<const double> coefficients, const RigidMotion& motion, Point c,
                       std::vector<float>& u_x, std::vector<float>& u_y) const;

    /// Takes the sums of a row of cells in, which count with the splines at their middles. ∇T at
    /// φ(x) is ∇R turned by the motion's angle. Rows may be taken in side by side.
    void take_row(std::size_t row, std::span<const kernel::CellSums> cells, double alpha);

    /// The normal equations of the coefficients, of the rows of cells that were taken in last:
    /// `matrix` ← ΣB ∇T∇Tᵀ B, `score` ← ΣB e∇T, per pixel of the image.
    void normal_equations(BandedMatrix& matrix, std::span<double> score) const;

    /// The standard deviation of w along an axis at the corners of cells, both axes' mean, of
    /// coefficients with that covariance.
    void deviations(const BandedMatrix& covariance, std::vector<float>& sigma) const;

    ImageShape cells() const { return cells_; }
    double unit() const { return unit_; }

  private:
    /// Of a row of cells, at a control point along x: scores, and tensors of pairs with the one k
    /// after it.
    struct Column {
        double x = 0, y = 0;
        std::array<double, 4> xx{}, xy{}, yy{};
    };
    /// Rows of cells: from which to before which.
    struct CellRows {
        std::size_t first, last;
    };

    void displacements_of_row(std::size_t j, std::span<const double> coefficients,
                              const RigidMotion& motion, Point c, float* u_x, float* u_y) const;
    CellRows rows_seen_by(std::size_t control, std::size_t other) const;
    void gather_scores(std::size_t control, std::span<double> score) const;
    void gather_pairs(std::size_t control, std::size_t other, BandedMatrix& matrix) const;
    double variance(const BandedMatrix& covariance, const SplineBasis& x,
                    const SplineBasis& y) const;

    const SplineGrid& grid_;
    ImageShape cells_;
    double unit_;
    std::vector<SplineBasis> corner_x_, corner_y_, middle_x_, middle_y_;
    std::vector<Column> columns_; // of each row of cells, for each control point along x
    Team* team_;
};

} // namespace sextant::registration
