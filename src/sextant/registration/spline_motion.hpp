// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/motion.hpp"
#include "sextant/registration/spline_fit.hpp"
#include "sextant/registration/spline_grid.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace sextant::registration {

/// A non-rigid motion in few numbers, φ(x) = motion(x) + Σ B_i(x) B_j(y) c_ij: about 1 kB of a
/// frame of any size above 512², where its field on nodes is 35 kB and more. It lives as long as
/// the grid.
struct SplineMotion {
    RigidMotion motion;
    std::vector<float> coefficients; ///< none: the rigid motion alone
    std::shared_ptr<const SplineGrid> grid = nullptr;
    Point centre; ///< of the frames

    /// φ(x).
    Point operator()(Point x) const;
};

/// The rigid motion nearest to any motion of frames of that shape, by places all over them.
RigidMotion nearest_rigid(const Displacement& phi, ImageShape shape);

/// A motion taken apart: the nearest rigid one, and what is beyond it.
FieldStart start_at(const Displacement& phi, ImageShape shape);

/// φ⁻¹(y) of a motion that is not far from that rigid one, by iteration to 10⁻³ px.
Point inverted(const Displacement& phi, const RigidMotion& near, Point centre, Point y);

} // namespace sextant::registration
