// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"

#include <string>

namespace sextant::command {

/// Help of one operation: description, usage, parameters and an example.
std::string help_of(const Operation& operation);

/// The list of all commands, one per line.
std::string help_of(const Commands& commands);

} // namespace sextant::command
