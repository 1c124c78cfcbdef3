// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/spline_cells.hpp"

#include <algorithm>
#include <cmath>

namespace sextant::registration {

namespace {

/// One number for each of the places origin, origin + step, …
template <class Basis>
std::vector<SplineBasis> bases(std::int64_t count, double origin, double step, Basis basis) {
    std::vector<SplineBasis> made;
    for (std::int64_t i = 0; i < count; ++i)
        made.push_back(basis(origin + static_cast<double>(i) * step));
    return made;
}

double weighed(const SplineBasis& basis, const std::vector<double>& line) {
    double sum = 0;
    for (std::size_t k = 0; k < 4; ++k)
        sum += basis.weight[k] * line[basis.first + k];
    return sum;
}

} // namespace

SplineCells::SplineCells(const SplineGrid& grid, ImageShape level, double unit)
    : grid_(grid),
      cells_(kernel::cells_of(level)),
      unit_(unit),
      line_x_(grid.columns()),
      line_y_(grid.columns()),
      pairs_{std::vector<double>(4 * grid.columns()), std::vector<double>(4 * grid.columns()),
             std::vector<double>(4 * grid.columns())} {
    const double step = unit * static_cast<double>(kernel::cell_size);
    const double middle = unit * static_cast<double>(kernel::cell_size - 1) / 2;
    const auto x = [&](double at) { return grid.along_x(at); };
    const auto y = [&](double at) { return grid.along_y(at); };
    corner_x_ = bases(cells_.width + 1, 0, step, x);
    corner_y_ = bases(cells_.height + 1, 0, step, y);
    middle_x_ = bases(cells_.width, middle, step, x);
    middle_y_ = bases(cells_.height, middle, step, y);
}

void SplineCells::displacements(std::span<const double> coefficients, const RigidMotion& motion,
                                Point c, std::vector<float>& u_x, std::vector<float>& u_y) {
    const double step = unit_ * static_cast<double>(kernel::cell_size);
    std::size_t corner = 0;
    for (std::size_t j = 0; j < corner_y_.size(); ++j) {
        const SplineBasis& y = corner_y_[j];
        for (std::size_t i = 0; i < grid_.columns(); ++i) {
            line_x_[i] = line_y_[i] = 0;
            for (std::size_t k = 0; k < 4; ++k) {
                const std::size_t at = grid_.unknown(i, y.first + k);
                line_x_[i] += y.weight[k] * coefficients[at];
                line_y_[i] += y.weight[k] * coefficients[at + 1];
            }
        }
        for (std::size_t i = 0; i < corner_x_.size(); ++i, ++corner) {
            const Point from{static_cast<double>(i) * step, static_cast<double>(j) * step};
            const Point to = apply(motion, from, c);
            u_x[corner] =
                static_cast<float>((to.x - from.x + weighed(corner_x_[i], line_x_)) / unit_);
            u_y[corner] =
                static_cast<float>((to.y - from.y + weighed(corner_x_[i], line_y_)) / unit_);
        }
    }
}

void SplineCells::normal_equations(std::span<const kernel::CellSums> cells, double alpha,
                                   BandedMatrix& matrix, std::span<double> score) {
    matrix.clear();
    std::fill(score.begin(), score.end(), 0);
    const auto width = static_cast<std::size_t>(cells_.width);
    for (std::size_t row = 0; row < middle_y_.size(); ++row) {
        add_row(cells.subspan(row * width, width), {alpha, 0, 0});
        spread_row(middle_y_[row], matrix, score);
    }
}

/// The sums of a row of cells, brought to pairs of control points along x.
void SplineCells::add_row(std::span<const kernel::CellSums> cells, const RigidMotion& turn) {
    for (auto* const sums : {&line_x_, &line_y_, &pairs_.xx, &pairs_.xy, &pairs_.yy})
        std::fill(sums->begin(), sums->end(), 0);
    const double cosine = std::cos(turn.alpha), sine = std::sin(turn.alpha);
    const double per_pixel = 1 / unit_, squared = per_pixel * per_pixel;
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
        const SplineBasis& basis = middle_x_[cell];
        const auto wide = [](float v) { return static_cast<double>(v); };
        const double x = wide(cells[cell].x), y = wide(cells[cell].y);
        const double xx = wide(cells[cell].xx), xy = wide(cells[cell].xy),
                     yy = wide(cells[cell].yy);
        const double turned_x = (cosine * x - sine * y) * per_pixel;
        const double turned_y = (sine * x + cosine * y) * per_pixel;
        const double cross = 2 * cosine * sine * xy;
        const double turned_xx = (cosine * cosine * xx - cross + sine * sine * yy) * squared;
        const double turned_yy = (sine * sine * xx + cross + cosine * cosine * yy) * squared;
        const double turned_xy =
            (cosine * sine * (xx - yy) + (cosine * cosine - sine * sine) * xy) * squared;
        for (std::size_t i = 0; i < 4; ++i) {
            const std::size_t at = basis.first + i;
            line_x_[at] += basis.weight[i] * turned_x;
            line_y_[at] += basis.weight[i] * turned_y;
            for (std::size_t k = 0; i + k < 4; ++k) {
                const double weight = basis.weight[i] * basis.weight[i + k];
                pairs_.xx[4 * at + k] += weight * turned_xx;
                pairs_.xy[4 * at + k] += weight * turned_xy;
                pairs_.yy[4 * at + k] += weight * turned_yy;
            }
        }
    }
}

/// A row's sums, brought to the control points along y.
void SplineCells::spread_row(const SplineBasis& y, BandedMatrix& matrix,
                             std::span<double> score) const {
    for (std::size_t p = 0; p < 4; ++p) {
        for (std::size_t i = 0; i < grid_.columns(); ++i) {
            const std::size_t a = grid_.unknown(i, y.first + p);
            score[a] += y.weight[p] * line_x_[i];
            score[a + 1] += y.weight[p] * line_y_[i];
        }
        for (std::size_t q = 0; q < 4; ++q) {
            const double weight = y.weight[p] * y.weight[q];
            for (std::size_t i = 0; i < grid_.columns(); ++i) {
                const std::size_t a = grid_.unknown(i, y.first + p);
                // Of control points above one another, each pair once.
                for (std::size_t k = p < q ? 1 : 0; k < 4 && i + k < grid_.columns(); ++k) {
                    const std::size_t b = grid_.unknown(i + k, y.first + q);
                    matrix.at(a, b) += weight * pairs_.xx[4 * i + k];
                    matrix.at(a + 1, b) += weight * pairs_.xy[4 * i + k];
                    if (a != b)
                        matrix.at(a, b + 1) += weight * pairs_.xy[4 * i + k];
                    matrix.at(a + 1, b + 1) += weight * pairs_.yy[4 * i + k];
                }
            }
        }
    }
}

double SplineCells::variance(const BandedMatrix& covariance, const SplineBasis& x,
                             const SplineBasis& y) const {
    double sum = 0;
    for (std::size_t p = 0; p < 16; ++p) {
        const std::size_t a = grid_.unknown(x.first + p % 4, y.first + p / 4);
        const double weight = x.weight[p % 4] * y.weight[p / 4];
        for (std::size_t q = 0; q <= p; ++q) {
            const std::size_t b = grid_.unknown(x.first + q % 4, y.first + q / 4);
            const double both = weight * x.weight[q % 4] * y.weight[q / 4] * (p == q ? 1 : 2);
            sum += both * (covariance.at(a, b) + covariance.at(a + 1, b + 1));
        }
    }
    return sum / 2;
}

void SplineCells::deviations(const BandedMatrix& covariance, std::vector<float>& sigma) const {
    std::size_t corner = 0;
    for (const SplineBasis& y : corner_y_) {
        for (const SplineBasis& x : corner_x_)
            sigma[corner++] =
                static_cast<float>(std::sqrt(std::max(variance(covariance, x, y), 0.)));
    }
}

} // namespace sextant::registration
