// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/task.hpp"
#include "sextant/operation/operation.hpp"
#include "sextant/planner/planner.hpp"

namespace sextant::operation {

/// The parameters by which a compositing algorithm is tuned.
Parameter radices_parameter();
Parameter window_parameter();
Parameter segments_parameter();

/// What a user gave for them; what he left out is as by default.
compositing::Tuning tuning_from(const Values& values);

/// Of a schedule without images, whose rows it does not know: blocks of so many pixels.
Parameter interlace_parameter();
compositing::Tuning schedule_tuning_from(const Values& values); ///< with it

/// Whether messages leave out what was not drawn, and what a user gave for it.
Parameter sparse_parameter();
planner::Sparse sparse_from(const Values& values);

} // namespace sextant::operation
