// SPDX-License-Identifier: BSD-3-Clause
#include "projection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sextant::icet {

namespace {

using Point = std::array<double, 4>; // homogeneous clip coordinates

Point transformed(const Matrix& m, const double* v) {
    Point to;
    for (std::size_t row = 0; row < 4; ++row)
        to[row] = m[row] * v[0] + m[4 + row] * v[1] + m[8 + row] * v[2] + m[12 + row];
    return to;
}

/// The distance from the near plane, up to a positive factor; positive in front of the plane.
double in_front(const Point& p) {
    return p[2] + p[3];
}

} // namespace

Matrix product(const Matrix& a, const Matrix& b) {
    Matrix c{};
    for (std::size_t column = 0; column < 4; ++column)
        for (std::size_t row = 0; row < 4; ++row)
            for (std::size_t k = 0; k < 4; ++k)
                c[4 * column + row] += a[4 * k + row] * b[4 * column + k];
    return c;
}

Matrix matrix_at(const double* elements) {
    Matrix matrix;
    std::copy_n(elements, 16, matrix.begin());
    return matrix;
}

Matrix projection_onto(const Viewport& part, const Viewport& whole) {
    Matrix matrix{};
    matrix[10] = matrix[15] = 1;
    for (std::size_t axis = 0; axis < 2; ++axis) {
        const double scale = static_cast<double>(whole[axis + 2]) / part[axis + 2];
        matrix[5 * axis] = scale;
        matrix[12 + axis] =
            (whole[axis + 2] + 2. * (whole[axis] - part[axis]) - part[axis + 2]) / part[axis + 2];
    }
    return matrix;
}

Projected project(std::span<const double> vertices, const Matrix& transform,
                  const Viewport& viewport) {
    if (vertices.empty())
        return {viewport, -1, 1};
    // Converts to pixels in the same way as IceT, so that bounds at the edge of a pixel are rounded
    // alike.
    Matrix to_pixels{};
    to_pixels[10] = to_pixels[15] = 1;
    for (std::size_t axis = 0; axis < 2; ++axis) {
        to_pixels[5 * axis] = .5 * viewport[axis + 2];
        to_pixels[12 + axis] = viewport[axis] + .5 * viewport[axis + 2];
    }
    const Matrix total = product(to_pixels, transform);
    std::vector<Point> points;
    for (std::size_t i = 0; i + 2 < vertices.size(); i += 3)
        points.push_back(transformed(total, &vertices[i]));
    // If the near plane cuts the hull, it cuts lines between pairs of its vertices.
    std::vector<Point> visible;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const double here = in_front(points[i]);
        if (here > 0)
            visible.push_back(points[i]);
        for (std::size_t k = 0; k < i; ++k) {
            const double there = in_front(points[k]);
            if ((here > 0) == (there > 0) || here == there)
                continue;
            const double t = here / (here - there);
            Point cut;
            for (std::size_t axis = 0; axis < 4; ++axis)
                cut[axis] = points[i][axis] + t * (points[k][axis] - points[i][axis]);
            visible.push_back(cut);
        }
    }
    double low[3], high[3];
    std::fill(low, low + 3, std::numeric_limits<double>::infinity());
    std::fill(high, high + 3, -std::numeric_limits<double>::infinity());
    for (const Point& point : visible) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            double at = point[axis] * (1 / point[3]); // rounded as in IceT
            if (!std::isfinite(at) ||
                std::isnan(
                    at)) // at the viewer's position, so the projection may be in any direction
                at = axis == 2 ? -1 : viewport[axis];
            low[axis] = std::min(low[axis], at);
            high[axis] = std::max(high[axis], at);
            if (!(point[3] > 0) && axis < 2) {
                low[axis] = viewport[axis];
                high[axis] = viewport[axis] + viewport[axis + 2];
            }
        }
    }
    if (visible.empty() || low[2] > 1 || high[2] < -1)
        return {};
    Viewport pixels;
    for (std::size_t axis = 0; axis < 2; ++axis) {
        const double least = viewport[axis], most = viewport[axis] + viewport[axis + 2];
        const double first = std::clamp(std::floor(low[axis]), least, most);
        const double last = std::clamp(std::ceil(high[axis]), least, most);
        pixels[axis] = static_cast<IceTInt>(first);
        pixels[axis + 2] = static_cast<IceTInt>(last - first);
    }
    return {pixels, low[2], high[2]};
}

} // namespace sextant::icet
