// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/thread_team.hpp"
#include "sextant/core/image.hpp"
#include "sextant/kernel/fit/cell_sums.hpp"
#include "sextant/registration/pair/banded_cholesky.hpp"
#include "sextant/registration/pair/motion.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace sextant::registration {

/// The values of the four cubic B-splines that are nonzero at a position, and the index of the
/// first one.
struct SplineBasis {
    std::size_t first = 0;
    std::array<double, 4> weight{};
};

/// Returns the values of the four uniform cubic B-splines that are nonzero in an interval, at
/// fraction t of the interval.
inline std::array<double, 4> cubic_b_splines(double t) {
    const double s = 1 - t;
    return {s * s * s / 6, (3 * t * t * t - 6 * t * t + 4) / 6, (3 * s * s * s - 6 * s * s + 4) / 6,
            t * t * t / 6};
}

/// Displacements w(x) = Σ B_i(x) B_j(y) c_ij with control points of two coefficients each, evenly
/// spaced along each axis. Control points along the shorter axis are numbered consecutively, so
/// that the matrices of energies and normal equations have a small bandwidth.
/// Requires  an image of at least 2x2 pixels, spacing >= 1.
class SplineGrid {
  public:
    /// Reduces the spacing so that a whole number of intervals covers the image.
    SplineGrid(ImageShape image, double spacing);

    std::size_t columns() const { return x_.controls(); }
    std::size_t rows() const { return y_.controls(); }
    std::size_t unknowns() const { return 2 * columns() * rows(); }
    /// Returns the bandwidth of a matrix that couples overlapping splines.
    std::size_t band() const;
    /// Returns the index of a control point's x coefficient; the y coefficient follows it.
    std::size_t unknown(std::size_t column, std::size_t row) const;

    SplineBasis along_x(double x) const { return x_.at(x); }
    SplineBasis along_y(double y) const { return y_.at(y); }

    /// Returns K with cᵀKc = h² ∫‖D²w‖² + share ∫‖ε(w)‖², where h is the spacing. The first term is
    /// the bending energy, which is 0 for affine displacements. The second is the strain ε(w) = (Dw
    /// + Dwᵀ)/2, which is 0 for shifts and small rotations; it prevents a stretch from being
    /// extrapolated far into unknown areas. The null space has dimension three.
    BandedMatrix energy(double share_of_strain) const;

  private:
    struct Axis {
        double spacing;
        std::size_t intervals;
        std::size_t controls() const { return intervals + 3; }
        SplineBasis at(double position) const;
        BandedMatrix gram(int derivative) const;
        using Slopes = std::vector<std::array<double, 7>>;
        Slopes slopes() const;
    };
    static Axis axis(std::int64_t pixels, double spacing);

    Axis x_, y_;
};

/// The splines of a control grid evaluated on the cells of one pyramid level: displacements at the
/// corners of cells, and sums over cells accumulated at control points. A level's pixel is `unit`
/// pixels of the image wide; coefficients are in pixels of the image. The rows are divided among
/// the team's threads.
/// Deterministic  the bits do not depend on the number of threads.
class SplineCells {
  public:
    /// The grid and the team must outlive this object.
    SplineCells(const SplineGrid& grid, ImageShape level, double unit, Team* team = nullptr);

    /// Computes u of φ(x) = motion(x) + w(x) at the corners of cells, in pixels of the level.
    void displacements(std::span<const double> coefficients, const RigidMotion& motion, Point c,
                       std::vector<float>& u_x, std::vector<float>& u_y) const;

    /// Accumulates the sums of a row of cells, weighted by the splines at the cells' centres. ∇T at
    /// φ(x) is ∇R rotated by the motion's angle. Different rows may be accumulated concurrently.
    void take_row(std::size_t row, std::span<const kernel::CellSums> cells, double alpha);

    /// Computes the normal equations from the rows of cells last passed to take_row(): `matrix` ←
    /// ΣB ∇T∇Tᵀ B, `score` ← ΣB e∇T, with gradients per pixel of the image.
    void normal_equations(BandedMatrix& matrix, std::span<double> score) const;

    /// Computes the standard deviation of w along an axis (averaged over both axes) at the corners
    /// of cells, for coefficients of the given covariance.
    void deviations(const BandedMatrix& covariance, std::vector<float>& sigma) const;

    ImageShape cells() const { return cells_; }
    double unit() const { return unit_; }

  private:
    /// Sums of one row of cells at a control point along x: scores, and tensors that couple the
    /// control point with the k-th control point after it.
    struct Column {
        double x = 0, y = 0;
        std::array<double, 4> xx{}, xy{}, yy{};
    };
    /// A range [first, last) of rows of cells.
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
    std::vector<Column> columns_; // [row of cells][control point along x]
    Team* team_;
};

} // namespace sextant::registration
