// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/fit/cell_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sextant::kernel {

namespace {

/// u within a cell, at shares of its width and height.
double in_cell(const float* u, ImageShape cells, Elements column, Elements row, double right,
               double down) {
    const auto at = [&](Elements x, Elements y) {
        return static_cast<double>(u[y * (cells.width + 1) + x]);
    };
    const double above = (1 - right) * at(column, row) + right * at(column + 1, row);
    const double below = (1 - right) * at(column, row + 1) + right * at(column + 1, row + 1);
    return (1 - down) * above + down * below;
}

/// NaN outside.
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

void add_pixel(const CellLook& look, Elements x, Elements y, double t, WideCellSums& cell,
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

FitMoments& FitMoments::operator+=(const FitMoments& other) {
    count += other.count;
    r += other.r;
    t += other.t;
    rr += other.rr;
    tt += other.tt;
    rt += other.rt;
    return *this;
}

FitMoments cell_sums_by_definition(const CellLook& look, Elements row_of_cells,
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

} // namespace sextant::kernel
