// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/pair/spline_grid.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

/// Returns the values of the four splines that are nonzero in an interval, or of their derivatives,
/// at fraction t of the interval.
std::array<double, 4> cubic(double t, int derivative) {
    const double s = 1 - t;
    if (derivative == 0)
        return cubic_b_splines(t);
    if (derivative == 1)
        return {-s * s / 2, (3 * t * t - 4 * t) / 2, (4 * s - 3 * s * s) / 2, t * t / 2};
    return {s, 3 * t - 2, 3 * s - 2, t};
}

/// Gauss points and weights on [0, 1], exact up to degree 7; squares of cubics have degree 6.
struct Node {
    double at, weight;
};
constexpr std::array<Node, 4> gauss{{{.06943184420297371, .17392742256872692},
                                     {.33000947820757187, .32607257743127307},
                                     {.66999052179242813, .32607257743127307},
                                     {.93056815579702629, .17392742256872692}}};

} // namespace

SplineGrid::Axis SplineGrid::axis(std::int64_t pixels, double spacing) {
    const auto length = static_cast<double>(pixels - 1);
    const double intervals = std::max(1., std::ceil(length / spacing));
    return {length / intervals, static_cast<std::size_t>(intervals)};
}

SplineGrid::SplineGrid(ImageShape image, double spacing)
    : x_(axis(image.width, spacing)), y_(axis(image.height, spacing)) {
    if (image.width < 2 || image.height < 2 || !(spacing >= 1))
        throw InvalidTask(fmt::format("control points {} pixels apart on {}x{} pixels: expected a "
                                      "distance of at least 1 and at least 2x2 pixels",
                                      spacing, image.width, image.height));
}

SplineBasis SplineGrid::Axis::at(double position) const {
    const double intervals_before =
        std::clamp(position / spacing, 0., static_cast<double>(intervals));
    const auto first = std::min(static_cast<std::size_t>(intervals_before), intervals - 1);
    return {first, cubic(intervals_before - static_cast<double>(first), 0)};
}

/// Returns the matrix ∫ B_i⁽ᵏ⁾ B_j⁽ᵏ⁾.
BandedMatrix SplineGrid::Axis::gram(int derivative) const {
    BandedMatrix made(controls(), 3);
    const double unit = spacing / std::pow(spacing, 2 * derivative);
    for (std::size_t interval = 0; interval < intervals; ++interval) {
        for (const Node& node : gauss) {
            const auto b = cubic(node.at, derivative);
            for (std::size_t i = 0; i < 4; ++i) {
                for (std::size_t j = 0; j <= i; ++j)
                    made.at(interval + i, interval + j) += unit * node.weight * b[i] * b[j];
            }
        }
    }
    return made;
}

std::size_t SplineGrid::band() const {
    return 2 * (3 * std::min(columns(), rows()) + 3) + 1;
}

std::size_t SplineGrid::unknown(std::size_t column, std::size_t row) const {
    return 2 * (columns() <= rows() ? row * columns() + column : column * rows() + row);
}

/// Returns ∫ B_i B_j′, which is not symmetric, at [i][j − i + 3].
SplineGrid::Axis::Slopes SplineGrid::Axis::slopes() const {
    Slopes made(controls());
    for (std::size_t interval = 0; interval < intervals; ++interval) {
        for (const Node& node : gauss) {
            const auto b = cubic(node.at, 0), slope = cubic(node.at, 1);
            for (std::size_t i = 0; i < 4; ++i) {
                for (std::size_t j = 0; j < 4; ++j)
                    made[interval + i][j + 3 - i] += node.weight * b[i] * slope[j];
            }
        }
    }
    return made;
}

BandedMatrix SplineGrid::energy(double share_of_strain) const {
    BandedMatrix x[3], y[3];
    for (int k = 0; k < 3; ++k) {
        x[k] = x_.gram(k);
        y[k] = y_.gram(k);
    }
    const Axis::Slopes x_slopes = x_.slopes(), y_slopes = y_.slopes();
    const double bending = x_.spacing * y_.spacing;
    BandedMatrix energy(unknowns(), band());
    const auto couple = [&](std::size_t i, std::size_t j, std::size_t k, std::size_t l) {
        const double along_x = x[1].at(i, k) * y[0].at(j, l);
        const double along_y = x[0].at(i, k) * y[1].at(j, l);
        const double bent =
            bending * (x[2].at(i, k) * y[0].at(j, l) + 2 * x[1].at(i, k) * y[1].at(j, l) +
                       x[0].at(i, k) * y[2].at(j, l));
        const std::size_t a = unknown(i, j), b = unknown(k, l);
        energy.at(a, b) = bent + share_of_strain * (along_x + along_y / 2);
        energy.at(a + 1, b + 1) = bent + share_of_strain * (along_x / 2 + along_y);
        // These entries couple ∂u/∂y of one control point with ∂v/∂x of the other.
        energy.at(a, b + 1) = share_of_strain / 2 * x_slopes[i][k + 3 - i] * y_slopes[l][j + 3 - l];
        energy.at(a + 1, b) = share_of_strain / 2 * x_slopes[k][i + 3 - k] * y_slopes[j][l + 3 - j];
    };
    for (std::size_t j = 0; j < rows(); ++j) {
        for (std::size_t i = 0; i < columns(); ++i) {
            for (std::size_t l = j; l < std::min(j + 4, rows()); ++l) {
                for (std::size_t k = i < 3 ? 0 : i - 3; k < std::min(i + 4, columns()); ++k)
                    couple(i, j, k, l);
            }
        }
    }
    return energy;
}

namespace {

/// Returns the basis at the positions origin, origin + step, …
template <class Basis>
std::vector<SplineBasis> bases(std::int64_t count, double origin, double step, Basis basis) {
    std::vector<SplineBasis> made;
    for (std::int64_t i = 0; i < count; ++i)
        made.push_back(basis(origin + static_cast<double>(i) * step));
    return made;
}

/// Number of rows of cell corners per task.
constexpr std::size_t rows_at_a_time = 8;

template <class Body>
void for_each_row(Team* team, std::size_t rows, const Body& body) {
    const auto parts = static_cast<int>((rows + rows_at_a_time - 1) / rows_at_a_time);
    run_parts(team, parts, [&](int part, int) {
        const std::size_t first = static_cast<std::size_t>(part) * rows_at_a_time;
        for (std::size_t row = first; row < std::min(rows, first + rows_at_a_time); ++row)
            body(row);
    });
}

} // namespace

SplineCells::SplineCells(const SplineGrid& grid, ImageShape level, double unit, Team* team)
    : grid_(grid),
      cells_(kernel::cells_of(level)),
      unit_(unit),
      columns_(static_cast<std::size_t>(cells_.height) * grid.columns()),
      team_(team) {
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
                                Point c, std::vector<float>& u_x, std::vector<float>& u_y) const {
    for_each_row(team_, corner_y_.size(), [&](std::size_t row) {
        const std::size_t first = row * corner_x_.size();
        displacements_of_row(row, coefficients, motion, c, &u_x[first], &u_y[first]);
    });
}

void SplineCells::displacements_of_row(std::size_t j, std::span<const double> coefficients,
                                       const RigidMotion& motion, Point c, float* u_x,
                                       float* u_y) const {
    const SplineBasis& y = corner_y_[j];
    const auto at_column = [&](std::size_t column) {
        Point sum;
        for (std::size_t k = 0; k < 4; ++k) {
            const std::size_t at = grid_.unknown(column, y.first + k);
            sum.x += y.weight[k] * coefficients[at];
            sum.y += y.weight[k] * coefficients[at + 1];
        }
        return sum;
    };
    const double step = unit_ * static_cast<double>(kernel::cell_size);
    const double less = std::cos(motion.alpha) - 1, sine = std::sin(motion.alpha);
    const double below = static_cast<double>(j) * step - c.y;
    std::array<Point, 4> line; // ring buffer of the last four control points
    std::size_t next = 0;
    for (std::size_t i = 0; i < corner_x_.size(); ++i) {
        const SplineBasis& x = corner_x_[i];
        for (; next < x.first + 4; ++next)
            line[next % 4] = at_column(next);
        const double right = static_cast<double>(i) * step - c.x;
        Point u{less * right - sine * below + motion.tx, sine * right + less * below + motion.ty};
        for (std::size_t k = 0; k < 4; ++k) {
            u.x += x.weight[k] * line[(x.first + k) % 4].x;
            u.y += x.weight[k] * line[(x.first + k) % 4].y;
        }
        u_x[i] = static_cast<float>(u.x / unit_);
        u_y[i] = static_cast<float>(u.y / unit_);
    }
}

void SplineCells::take_row(std::size_t row, std::span<const kernel::CellSums> cells, double alpha) {
    const std::span<Column> columns(&columns_[row * grid_.columns()], grid_.columns());
    std::fill(columns.begin(), columns.end(), Column());
    const double cosine = std::cos(alpha), sine = std::sin(alpha);
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
            Column& column = columns[basis.first + i];
            column.x += basis.weight[i] * turned_x;
            column.y += basis.weight[i] * turned_y;
            for (std::size_t k = 0; i + k < 4; ++k) {
                const double weight = basis.weight[i] * basis.weight[i + k];
                column.xx[k] += weight * turned_xx;
                column.xy[k] += weight * turned_xy;
                column.yy[k] += weight * turned_yy;
            }
        }
    }
}

/// Each row of control points is gathered by one thread. Only this thread writes the entries that
/// couple these control points with control points to their right or straight above.
void SplineCells::normal_equations(BandedMatrix& matrix, std::span<double> score) const {
    matrix.clear();
    run_parts(team_, static_cast<int>(grid_.rows()), [&](int part, int) {
        const auto control = static_cast<std::size_t>(part);
        gather_scores(control, score);
        const std::size_t first = control < 3 ? 0 : control - 3;
        for (std::size_t other = first; other < std::min(control + 4, grid_.rows()); ++other)
            gather_pairs(control, other, matrix);
    });
}

/// Returns the rows of cells in which both rows of control points have nonzero weight.
SplineCells::CellRows SplineCells::rows_seen_by(std::size_t control, std::size_t other) const {
    const auto begins = [](const SplineBasis& y, std::size_t first) { return y.first < first; };
    const auto first_from = [&](std::size_t first) {
        return static_cast<std::size_t>(
            std::lower_bound(middle_y_.begin(), middle_y_.end(), first, begins) -
            middle_y_.begin());
    };
    const std::size_t lower = std::max(control, other), upper = std::min(control, other);
    return {first_from(lower < 3 ? 0 : lower - 3), first_from(upper + 1)};
}

void SplineCells::gather_scores(std::size_t control, std::span<double> score) const {
    const auto [first, last] = rows_seen_by(control, control);
    for (std::size_t i = 0; i < grid_.columns(); ++i) {
        Point sum;
        for (std::size_t row = first; row < last; ++row) {
            const double weight = middle_y_[row].weight[control - middle_y_[row].first];
            const Column& column = columns_[row * grid_.columns() + i];
            sum.x += weight * column.x;
            sum.y += weight * column.y;
        }
        const std::size_t a = grid_.unknown(i, control);
        score[a] = sum.x;
        score[a + 1] = sum.y;
    }
}

/// Writes the entries that couple each control point of a row with control points of another row
/// that are to its right or straight above it.
void SplineCells::gather_pairs(std::size_t control, std::size_t other, BandedMatrix& matrix) const {
    const auto [first, last] = rows_seen_by(control, other);
    for (std::size_t i = 0; i < grid_.columns(); ++i) {
        Column sum;
        for (std::size_t row = first; row < last; ++row) {
            const SplineBasis& y = middle_y_[row];
            const double weight = y.weight[control - y.first] * y.weight[other - y.first];
            const Column& column = columns_[row * grid_.columns() + i];
            for (std::size_t k = 0; k < 4; ++k) {
                sum.xx[k] += weight * column.xx[k];
                sum.xy[k] += weight * column.xy[k];
                sum.yy[k] += weight * column.yy[k];
            }
        }
        const std::size_t a = grid_.unknown(i, control);
        for (std::size_t k = control < other ? 1 : 0; k < 4 && i + k < grid_.columns(); ++k) {
            const std::size_t b = grid_.unknown(i + k, other);
            matrix.at(a, b) = sum.xx[k];
            matrix.at(a + 1, b) = sum.xy[k];
            matrix.at(a, b + 1) = sum.xy[k];
            matrix.at(a + 1, b + 1) = sum.yy[k];
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
    for_each_row(team_, corner_y_.size(), [&](std::size_t row) {
        float* to = &sigma[row * corner_x_.size()];
        for (const SplineBasis& x : corner_x_)
            *to++ = static_cast<float>(
                std::sqrt(std::max(variance(covariance, x, corner_y_[row]), 0.)));
    });
}

} // namespace sextant::registration
