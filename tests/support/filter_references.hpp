// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/filter/gaussian.hpp"
#include "sextant/kernel/fit/cell_sums.hpp"
#include "sextant/kernel/fit/rigid_map.hpp"

#include <span>

namespace sextant::kernel {

/// One sample of a Gaussian derivative, from the definition: Σ_j Σ_i w_y(j) w_x(i) f(x + i, y + j)
/// with the weights of gaussian_weights.hpp, all in double precision. The reference for
/// GaussianDerivatives.
/// Requires  sigma, orders and kernel as for gaussian_weights; an input that contains the required
///           samples (read_for).
/// Cost      the product of the numbers of weights.
double gaussian_derivative(const SampleView& input, Elements x, Elements y, double sigma,
                           Derivative derivative, BorderRule rule = {},
                           const GaussianKernel& kernel = {});

/// As gaussian_derivative, for a voxel of a volume: with a third sum over planes. The reference for
/// VolumeDerivatives.
double volume_derivative(const SampleView& input, Elements x, Elements y, Elements z,
                         const Scales& sigma, Derivative derivative, BorderRule rule = {},
                         const GaussianKernel& kernel = {});

/// kernel::cell_sums from the definition, in double precision except for the last step.
FitMoments cell_sums_by_definition(const CellComparison& look, Elements row_of_cells,
                                   std::span<CellSums> to);

/// kernel::rigid_sums from the definition, in double precision.
RigidSums rigid_sums_by_definition(const RigidComparison& look, const Tile& tile);

} // namespace sextant::kernel
