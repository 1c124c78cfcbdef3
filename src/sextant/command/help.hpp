// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"

#include <span>
#include <string>

namespace sextant::command {

/// Returns an option or argument with the placeholder for its value: "IN...", "--memory SIZE",
/// "--json [FILE]".
std::string with_value(const Field& field);
/// Returns the meaning of an option, its choices and, in brackets, its default.
std::string explained(const Field& field);
/// Returns the usage line: "Usage: sextant apply FILE DATA --output OUT [OPTIONS]".
std::string usage_of(const Operation& operation);

/// Returns the help of one command: description, usage, options and an example.
std::string help_of(const Operation& operation);

/// Returns the list of all commands, one per line.
std::string help_of(const Commands& commands);

/// Returns the manual page of a command, in the format of man(7).
std::string manual_of(const Operation& operation);
/// Returns the manual page of the program, which lists its commands.
std::string manual_of(const Commands& commands);

/// Returns the completion script for bash or zsh. The scripts complete commands, options and the
/// values of options with a fixed list of choices; other values are completed as file names.
std::string bash_completion(std::span<const Operation* const> operations);
std::string zsh_completion(std::span<const Operation* const> operations);

} // namespace sextant::command
