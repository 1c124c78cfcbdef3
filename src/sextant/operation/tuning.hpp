// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/task.hpp"
#include "sextant/operation/operation.hpp"

namespace sextant::operation {

/// The parameters by which a compositing algorithm is tuned.
Parameter radices_parameter();
Parameter window_parameter();

/// What a user gave for them; what he left out is as by default.
compositing::Tuning tuning_from(const Values& values);

} // namespace sextant::operation
