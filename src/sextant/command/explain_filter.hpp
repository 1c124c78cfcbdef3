// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"

#include <vector>

namespace sextant::command {

/// The parameters of `explain filter`.
std::vector<Parameter> explain_filter_parameters();

/// Prints the plan of `sextant filter` for an image of this size: the configuration, the locations
/// that the image passes through, and the alternatives with their predictions.
int explain_filter(const Values& values);

} // namespace sextant::command
