// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/spline_grid.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

/// The splines of an interval or their derivatives, at a share t of it.
std::array<double, 4> cubic(double t, int derivative) {
    const double s = 1 - t;
    if (derivative == 0)
        return {s * s * s / 6, (3 * t * t * t - 6 * t * t + 4) / 6,
                (3 * s * s * s - 6 * s * s + 4) / 6, t * t * t / 6};
    if (derivative == 1)
        return {-s * s / 2, (3 * t * t - 4 * t) / 2, (4 * s - 3 * s * s) / 2, t * t / 2};
    return {s, 3 * t - 2, 3 * s - 2, t};
}

/// Gauss' points and weights on [0, 1], exact up to degree 7: squares of cubics have 6.
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
        throw InvalidTask(fmt::format("control points {} pixels apart on {}x{} pixels", spacing,
                                      image.width, image.height));
}

SplineBasis SplineGrid::Axis::at(double place) const {
    const double intervals_before = std::clamp(place / spacing, 0., static_cast<double>(intervals));
    const auto first = std::min(static_cast<std::size_t>(intervals_before), intervals - 1);
    return {first, cubic(intervals_before - static_cast<double>(first), 0)};
}

/// ∫ B_i⁽ᵏ⁾ B_j⁽ᵏ⁾.
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

/// ∫ B_i B_j′, which is not symmetric, at [i][j − i + 3].
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
        // ∂u/∂y of the one and ∂v/∂x of the other.
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

} // namespace sextant::registration
