// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"

#include <vector>

namespace sextant::command {

/// The parameters of `explain scan`, for `explain`.
std::vector<Parameter> scan_parameters();

/// Prints which way to scan a series would be chosen, and all others, by rehearsal.
int explain_scan(const Values& values);

} // namespace sextant::command
