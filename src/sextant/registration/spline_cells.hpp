// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/cell_sums.hpp"
#include "sextant/registration/motion.hpp"
#include "sextant/registration/spline_grid.hpp"

#include <span>
#include <vector>

namespace sextant::registration {

/// What the splines of a control grid are on the cells of one level of a pyramid: values at the
/// corners of cells, and sums over cells brought to control points. A level's pixel is `unit`
/// pixels of the image wide; coefficients are in pixels of the image.
class SplineCells {
  public:
    /// Refers to the grid, which must live as long as it.
    SplineCells(const SplineGrid& grid, ImageShape level, double unit);

    /// u of φ(x) = motion(x) + w(x) at the corners of cells, in pixels of the level.
    void displacements(std::span<const double> coefficients, const RigidMotion& motion, Point c,
                       std::vector<float>& u_x, std::vector<float>& u_y);

    /// The normal equations of the coefficients, of cells' sums row after row: a cell counts with
    /// the splines at its middle. `matrix` ← ΣB ∇T∇Tᵀ B, `score` ← ΣB e∇T, per pixel of the image,
    /// where ∇T at φ(x) is ∇R turned by the motion's angle.
    void normal_equations(std::span<const kernel::CellSums> cells, double alpha,
                          BandedMatrix& matrix, std::span<double> score);

    /// The standard deviation of w along an axis at the corners of cells, both axes' mean, of
    /// coefficients with that covariance.
    void deviations(const BandedMatrix& covariance, std::vector<float>& sigma) const;

    ImageShape cells() const { return cells_; }
    double unit() const { return unit_; }

  private:
    /// Of a row of cells, for control points i and i + k along x: [4 i + k].
    struct PairSums {
        std::vector<double> xx, xy, yy;
    };

    void add_row(std::span<const kernel::CellSums> cells, const RigidMotion& turn);
    void spread_row(const SplineBasis& y, BandedMatrix& matrix, std::span<double> score) const;
    double variance(const BandedMatrix& covariance, const SplineBasis& x,
                    const SplineBasis& y) const;

    const SplineGrid& grid_;
    ImageShape cells_;
    double unit_;
    std::vector<SplineBasis> corner_x_, corner_y_, middle_x_, middle_y_;
    std::vector<double> line_x_, line_y_; // a row's sums, for each control point along x
    PairSums pairs_;
};

} // namespace sextant::registration
