// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/level.hpp"

#include <array>
#include <span>

namespace sextant::registration {

/// The standard deviations of a motion's parameters (radians, pixels), and their covariance by
/// rows.
struct RigidUncertainty {
    double alpha = 0, tx = 0, ty = 0;
    std::array<double, 9> covariance{};
};

/// The sandwich H⁻¹VH⁻¹: H is how the score changes with the motion, from the slopes of both
/// frames, whose noise is independent; V the sum of outer products of the scores of tiles, over
/// which filtered noise is hardly correlated. Infinite where the frames do not tell.
///
/// Input     the tiles' sums with slopes at the motion found, those of all together and their
///           similarity; the motion's angle.
RigidUncertainty uncertainty_of(std::span<const kernel::RigidSums> tiles,
                                const kernel::RigidSums& all, const Similarity& alike,
                                double alpha);

} // namespace sextant::registration
