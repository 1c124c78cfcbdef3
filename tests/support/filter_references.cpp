// SPDX-License-Identifier: BSD-3-Clause

#include "tests/support/filter_references.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace sextant::kernel {

namespace {

double sample(const SampleView& input, Elements x, Elements y, BorderRule rule, Elements z = 0) {
    const auto column = seen_at(rule.border, x, input.image.width);
    const auto row = seen_at(rule.border, y, input.image.height);
    const auto plane = seen_at(rule.border, z, input.depth);
    if (!column || !row || !plane)
        return static_cast<double>(rule.constant);
    const Elements at = (*plane - input.tile.z) * input.next_plane +
                        (*row - input.tile.y) * input.stride + *column - input.tile.x;
    return std::visit([at](const auto* first) { return static_cast<double>(first[at]); },
                      input.first);
}

} // namespace

double gaussian_derivative(const SampleView& input, Elements x, Elements y, double sigma,
                           Derivative derivative, BorderRule rule, const GaussianKernel& kernel) {
    const std::vector<double> weights_x = gaussian_weights(sigma, derivative.x, kernel);
    const std::vector<double> weights_y = gaussian_weights(sigma, derivative.y, kernel);
    const int reach_x = gaussian_reach(sigma, derivative.x, kernel);
    const int reach_y = gaussian_reach(sigma, derivative.y, kernel);
    double sum = 0;
    for (int j = -reach_y; j <= reach_y; ++j) {
        for (int i = -reach_x; i <= reach_x; ++i) {
            const double weight = weights_y[static_cast<std::size_t>(j + reach_y)] *
                                  weights_x[static_cast<std::size_t>(i + reach_x)];
            if (weight != 0) // 0 times NaN is NaN: samples of weight zero are skipped
                sum += weight * sample(input, x + i, y + j, rule);
        }
    }
    return sum;
}

double volume_derivative(const SampleView& input, Elements x, Elements y, Elements z,
                         const Scales& sigma, Derivative derivative, BorderRule rule,
                         const GaussianKernel& kernel) {
    const std::vector<double> weights_x = gaussian_weights(sigma.x, derivative.x, kernel);
    const std::vector<double> weights_y = gaussian_weights(sigma.y, derivative.y, kernel);
    const std::vector<double> weights_z = gaussian_weights(sigma.z, derivative.z, kernel);
    const auto reach_of = [](const std::vector<double>& weights) {
        return std::ssize(weights) / 2;
    };
    double sum = 0;
    for (std::size_t k = 0; k < weights_z.size(); ++k) {
        for (std::size_t j = 0; j < weights_y.size(); ++j) {
            for (std::size_t i = 0; i < weights_x.size(); ++i) {
                const double weight = weights_z[k] * weights_y[j] * weights_x[i];
                if (weight != 0) // 0 times NaN is NaN: samples of weight zero are skipped
                    sum +=
                        weight * sample(input, x + static_cast<Elements>(i) - reach_of(weights_x),
                                        y + static_cast<Elements>(j) - reach_of(weights_y), rule,
                                        z + static_cast<Elements>(k) - reach_of(weights_z));
            }
        }
    }
    return sum;
}

namespace {

/// Bilinear interpolation of u at a position within a cell, in fractions of its width and height.
double in_cell(const float* u, ImageShape cells, Elements column, Elements row, double right,
               double down) {
    const auto at = [&](Elements x, Elements y) {
        return static_cast<double>(u[y * (cells.width + 1) + x]);
    };
    const double above = (1 - right) * at(column, row) + right * at(column + 1, row);
    const double below = (1 - right) * at(column, row + 1) + right * at(column + 1, row + 1);
    return (1 - down) * above + down * below;
}

/// Bilinear interpolation; NaN outside the image.
double sampled(const FloatImage& image, double x, double y) {
    const auto [width, height] = image.shape;
    if (!(x >= 0 && x <= static_cast<double>(width - 1) && y >= 0 &&
          y <= static_cast<double>(height - 1)))
        return std::numeric_limits<double>::quiet_NaN();
    const auto i = std::min(static_cast<Elements>(x), width - 2);
    const auto j = std::min(static_cast<Elements>(y), height - 2);
    const double a = x - static_cast<double>(i), b = y - static_cast<double>(j);
    const auto at = [&](Elements p, Elements q) { return static_cast<double>(image.at(p, q)); };
    return (1 - b) * ((1 - a) * at(i, j) + a * at(i + 1, j)) +
           b * ((1 - a) * at(i, j + 1) + a * at(i + 1, j + 1));
}

struct WideCellSums {
    double count = 0, xx = 0, xy = 0, yy = 0, x = 0, y = 0;
};

void add_pixel(const CellComparison& look, Elements x, Elements y, double t, WideCellSums& cell,
               FitMoments& moments) {
    const auto dx = static_cast<double>(look.slope_x.at(x, y));
    const auto dy = static_cast<double>(look.slope_y.at(x, y));
    const auto r = static_cast<double>(look.reference.at(x, y));
    const double e = static_cast<double>(look.gain) * t + static_cast<double>(look.offset) - r;
    if (std::isnan(e + dx + dy))
        return;
    cell.count += 1;
    cell.xx += dx * dx;
    cell.xy += dx * dy;
    cell.yy += dy * dy;
    cell.x += e * dx;
    cell.y += e * dy;
    moments += {1, r, t, r * r, t * t, r * t};
}

CellSums narrowed(const WideCellSums& wide) {
    const auto f = [](double v) { return static_cast<float>(v); };
    return {f(wide.count), f(wide.xx), f(wide.xy), f(wide.yy), f(wide.x), f(wide.y)};
}

} // namespace

FitMoments cell_sums_by_definition(const CellComparison& look, Elements row_of_cells,
                                   std::span<CellSums> to) {
    const auto [width, height] = look.reference.shape;
    const ImageShape cells = cells_of(look.reference.shape);
    const Elements top = row_of_cells * cell_size;
    FitMoments moments;
    for (Elements column = 0; column < cells.width; ++column) {
        const Elements left = column * cell_size;
        WideCellSums sums;
        for (Elements y = top; y < std::min(top + cell_size, height); ++y) {
            for (Elements x = left; x < std::min(left + cell_size, width); ++x) {
                const double right = static_cast<double>(x - left) / cell_size;
                const double down = static_cast<double>(y - top) / cell_size;
                const double at_x = static_cast<double>(x) +
                                    in_cell(look.u_x, cells, column, row_of_cells, right, down);
                const double at_y = static_cast<double>(y) +
                                    in_cell(look.u_y, cells, column, row_of_cells, right, down);
                add_pixel(look, x, y, sampled(look.moved, at_x, at_y), sums, moments);
            }
        }
        to[static_cast<std::size_t>(column)] = narrowed(sums);
    }
    return moments;
}

namespace {

using Three = std::array<double, 3>;

struct Slope {
    double along_x, along_y;
};

/// (f(x − 2h) − 8 f(x − h) + 8 f(x + h) − f(x + 2h)) / 12h for the samples around `at`, h = 1.
double central_difference(const float* at, Elements step) {
    const auto f = [&](Elements k) { return static_cast<double>(at[k * step]); };
    return (f(-2) - 8 * f(-1) + 8 * f(1) - f(2)) / 12;
}

Slope slope_of_reference(const FloatImage& image, Elements x, Elements y) {
    const float* const at = image.row(y) + x;
    return {central_difference(at, 1), central_difference(at, image.stride)};
}

/// Gradient of the bilinear interpolant, along the axes of the reference.
Slope slope_of_moved(const FloatImage& image, const RigidMap& map, double x, double y) {
    const Elements left = std::min(static_cast<Elements>(x), image.shape.width - 2);
    const Elements top = std::min(static_cast<Elements>(y), image.shape.height - 2);
    const double u = x - static_cast<double>(left), v = y - static_cast<double>(top);
    const auto f = [&](Elements i, Elements j) {
        return static_cast<double>(image.at(left + i, top + j));
    };
    const double along_x = (1 - v) * (f(1, 0) - f(0, 0)) + v * (f(1, 1) - f(0, 1));
    const double along_y = (1 - u) * (f(0, 1) - f(0, 0)) + u * (f(1, 1) - f(1, 0));
    return {map.cosine * along_x + map.sine * along_y, map.cosine * along_y - map.sine * along_x};
}

Three by_motion(Slope slope, double x, double y) {
    return {slope.along_y * x - slope.along_x * y, slope.along_x, slope.along_y};
}

} // namespace

RigidSums rigid_sums_by_definition(const RigidComparison& look, const Tile& tile) {
    RigidSums sums;
    const RigidMap& map = look.map;
    const Tile part = with_slopes(tile, look.reference.shape);
    for (Elements j = part.y; j < part.y + part.height; j += look.row_step) {
        for (Elements i = part.x; i < part.x + part.width; ++i) {
            const auto column = static_cast<double>(i), row = static_cast<double>(j);
            const double x = map.x + map.cosine * column - map.sine * row;
            const double y = map.y + map.sine * column + map.cosine * row;
            if (x < 0 || y < 0 || x > static_cast<double>(look.moved.shape.width - 1) ||
                y > static_cast<double>(look.moved.shape.height - 1))
                continue;
            const double r = static_cast<double>(look.reference.at(i, j));
            const double t = bilinear(look.moved, x, y);
            const double from_x = column - look.centre_x, from_y = row - look.centre_y;
            const Three by_r = by_motion(slope_of_reference(look.reference, i, j), from_x, from_y);
            const Three by_t = by_motion(slope_of_moved(look.moved, map, x, y), from_x, from_y);
            const bool known = !std::isnan(r + t + by_r[1] + by_r[2]);
            if (look.gaps && !known)
                continue;
            sums.count += 1;
            sums.r += r;
            sums.t += t;
            sums.rr += r * r;
            sums.tt += t * t;
            sums.rt += r * t;
            for (std::size_t a = 0, k = 0; a < 3; ++a) {
                sums.j[a] += by_r[a];
                sums.jr[a] += by_r[a] * r;
                sums.jt[a] += by_r[a] * t;
                for (std::size_t b = a; b < 3; ++b, ++k) {
                    sums.jj[k] += by_r[a] * by_r[b];
                    sums.jd[k] += (by_r[a] * by_t[b] + by_t[a] * by_r[b]) / 2;
                }
            }
        }
    }
    return sums;
}

} // namespace sextant::kernel
