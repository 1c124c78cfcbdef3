// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/operation/schedules/families.hpp"

#include <string_view>
#include <vector>

// What commands have in common that are about one schedule.
namespace sextant::operation {

/// By which a user says which: a family, an algorithm and its tuning, ranks and elements, so many
/// by default.
std::vector<Parameter> schedule_parameters(std::string_view elements);
Parameter element_size_parameter();

/// What was said.
ScheduleRequest schedule_request(const Values& values);

} // namespace sextant::operation
