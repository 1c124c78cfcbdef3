// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/fit/rigid_sums.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace sextant::kernel {

namespace {

using Three = std::array<double, 3>;

struct Slope {
    double along_x, along_y;
};

/// (f(x − 2h) − 8 f(x − h) + 8 f(x + h) − f(x + 2h)) / 12h of the samples around `at`.
double central_difference(const float* at, Elements step) {
    const auto f = [&](Elements k) { return static_cast<double>(at[k * step]); };
    return (f(-2) - 8 * f(-1) + 8 * f(1) - f(2)) / 12;
}

Slope slope_of_reference(const FloatImage& image, Elements x, Elements y) {
    const float* const at = image.row(y) + x;
    return {central_difference(at, 1), central_difference(at, image.stride)};
}

/// Of the bilinear interpolant, in the directions of the reference.
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

RigidSums rigid_sums_by_definition(const RigidLook& look, const Tile& tile) {
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
