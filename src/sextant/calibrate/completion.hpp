// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/profile.hpp"

namespace sextant::calibrate {

/// Completes a profile of few measurements by the costs of the built-in machine, scaled to the
/// measured ones: curves beyond their measured sizes, curves that are missing, and, `with_work`,
/// operators, kernels and copies. Costs of work are scaled by the ratio of the passes of `over` on
/// f32. Links that were not measured stay unknown.
void complete(machine::Profile& measured, bool with_work);

} // namespace sextant::calibrate
