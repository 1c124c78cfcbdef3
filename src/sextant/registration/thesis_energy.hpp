// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/cross_correlation.hpp"
#include "sextant/registration/gradient_flow.hpp"
#include "sextant/registration/motion.hpp"

namespace sextant::registration {

/// E[φ] = −NCC[R, T∘φ] of a rigid motion, on a grid of nodes `spacing` apart. The parameters are α,
/// t_x and t_y; lengths are in units of the domain, the middle of rotation at `c`. The metric is
/// that of ∫‖∂φ‖²/|Ω|: it weighs α by the mean of ‖x − c‖², t by 1, and has no scale.
/// The functional refers to the images, which must live as long as it.
Functional rigid_energy(const CrossCorrelation& images, Point c);

/// E[φ] = −NCC[R, T∘φ] + (λ/2) ∫‖Du‖² of φ = id + u. The parameters are u_x at each node, then u_y,
/// in units of the domain. The metric is A = 1 − (s²/2)Δ with Neumann's condition.
/// The functional refers to the images, which must live as long as it.
Functional nonrigid_energy(const CrossCorrelation& images, double lambda);

} // namespace sextant::registration
