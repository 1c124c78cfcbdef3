// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"

#include <vector>

namespace sextant::command {

/// The parameters of `explain filter`, for `explain`.
std::vector<Parameter> explain_filter_parameters();

/// Prints how a whole program of filters would be shared among ranks, through which states the
/// image would go, and all other ways; and the grid that `sextant filter` would choose.
int explain_filter(const Values& values);

} // namespace sextant::command
