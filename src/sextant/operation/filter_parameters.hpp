// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/distributed/window_filter.hpp"
#include "sextant/operation/operation.hpp"

#include <string>
#include <vector>

namespace sextant::operation {

/// What says which filter is meant, and what it sees beyond the border, which changes no schedule.
std::vector<Parameter> filter_parameters();
std::vector<Parameter> border_parameters();
distributed::Filter filter_from(const Values& values);

/// Columns and rows of "4x2". Throws InvalidTask, naming the parameter and what it was given.
struct Sides {
    std::int64_t columns = 0, rows = 0;
};
Sides sides_from(const std::string& parameter, const std::string& text);

} // namespace sextant::operation
