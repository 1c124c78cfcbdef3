// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/families.hpp"
#include "sextant/command/operation.hpp"
#include "sextant/compositing/composite_task.hpp"
#include "sextant/planner/planner.hpp"

#include <string_view>
#include <vector>

// What commands have in common that are about one schedule.
namespace sextant::command {

/// By which a user says which: a family, an algorithm and its tuning, ranks and elements, so many
/// by default.
std::vector<Parameter> schedule_parameters(std::string_view elements);
Parameter element_size_parameter();

/// What was said.
ScheduleRequest schedule_request(const Values& values);

/// The parameters by which a compositing algorithm is tuned.
Parameter radices_parameter();
Parameter window_parameter();

/// What a user gave for them; what he left out is as by default.
compositing::Tuning tuning_from(const Values& values);

/// Of a schedule without images, whose rows it does not know: blocks of so many pixels.
Parameter interlace_parameter();
compositing::Tuning schedule_tuning_from(const Values& values); ///< with it

/// Whether messages leave out what was not drawn, and what a user gave for it.
Parameter sparse_parameter();
planner::Sparse sparse_from(const Values& values);

} // namespace sextant::command
