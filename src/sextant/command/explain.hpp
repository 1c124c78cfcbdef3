// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"

#include <vector>

namespace sextant::command {

/// The parameters of `explain scan`.
std::vector<Parameter> scan_parameters();

/// Prints the configuration that a series scan would use, and all others, by rehearsal.
int explain_scan(const Values& values);

} // namespace sextant::command
