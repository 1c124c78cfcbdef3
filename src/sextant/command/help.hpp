// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"

#include <string>

namespace sextant::command {

/// An option or parameter with a placeholder for its value: "IN...", "--memory SIZE", "--json
/// [FILE]".
std::string with_value(const Field& field);
/// Its meaning, its choices and, in brackets, its default.
std::string explained(const Field& field);
/// "Usage: sextant apply FILE DATA --output OUT [OPTIONS]", and the end of the line.
std::string usage_of(const Operation& operation);

/// Help of one operation: description, usage, parameters and an example.
std::string help_of(const Operation& operation);

/// The list of all commands, one per line.
std::string help_of(const Commands& commands);

} // namespace sextant::command
