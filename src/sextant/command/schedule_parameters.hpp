// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/families.hpp"
#include "sextant/command/operation.hpp"
#include "sextant/compositing/composite_task.hpp"
#include "sextant/planner/planner.hpp"

#include <string_view>
#include <vector>

// Parameters of commands about one schedule.
namespace sextant::command {

/// The parameters that select a schedule: family, algorithm, tuning, ranks, and elements with this
/// default.
std::vector<Parameter> schedule_parameters(std::string_view elements);
Parameter element_size_parameter();

/// The schedule that the parameters select.
ScheduleRequest schedule_request(const Values& values);

/// The tuning parameters of a compositing algorithm.
Parameter radices_parameter();
Parameter window_parameter();

/// The tuning given by the user; defaults elsewhere.
compositing::Tuning tuning_from(const Values& values);

/// For schedules without images, whose rows are unknown: interlaced blocks of so many pixels.
Parameter interlace_parameter();
compositing::Tuning schedule_tuning_from(const Values& values); ///< including interlacing

/// --sparse: skip empty pixels in messages.
Parameter sparse_parameter();
planner::Sparse sparse_from(const Values& values);

} // namespace sextant::command
