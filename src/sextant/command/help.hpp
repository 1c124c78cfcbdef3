// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"

#include <string>

namespace sextant::command {

/// What an operation does, how it is called, its parameters and an example, from its declaration.
std::string help_of(const Operation& operation);

/// Every command, a line each.
std::string help_of(const Commands& commands);

} // namespace sextant::command
