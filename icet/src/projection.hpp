// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <span>

#include "context.hpp"

namespace sextant::icet {

/// A 4x4 matrix, column by column, as in OpenGL.
using Matrix = std::array<double, 16>;
Matrix product(const Matrix& a, const Matrix& b);
Matrix matrix_at(const double* elements);

/// The matrix to apply after the projection so that `part` of the viewport fills the complete
/// image.
Matrix projection_onto(const Viewport& part, const Viewport& whole);

/// The pixels and depths (-1 near, 1 far) that geometry can cover; an empty viewport if the
/// geometry is out of view.
struct Projected {
    Viewport pixels = {0, 0, 0, 0};
    double near = 1, far = 0;
};

/// Projects the convex hull of vertices (x, y, z), clipped at the near plane. Without vertices,
/// geometry can be anywhere.
Projected project(std::span<const double> vertices, const Matrix& transform,
                  const Viewport& viewport);

} // namespace sextant::icet
