// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/distributed/window_filter.hpp"
#include "sextant/operation/operation.hpp"

#include <vector>

namespace sextant::operation {

/// What says which filter is meant, and what it sees beyond the border, which changes no schedule.
std::vector<Parameter> filter_parameters();
std::vector<Parameter> border_parameters();
/// Those that come before, and the filter itself. Throws InvalidTask for one that cannot be.
distributed::Filters filters_from(const Values& values);

} // namespace sextant::operation
