// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"

#include <vector>

namespace sextant::command {

/// The parameters of `explain filter`.
std::vector<Parameter> explain_filter_parameters();

/// Prints how a program of filters would be distributed over ranks, the states that the image would
/// pass through, and the alternatives; then the grid that `sextant filter` would choose.
int explain_filter(const Values& values);

} // namespace sextant::command
