// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"

#include <span>
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

/// The manual page of a command, in the language of man(7).
std::string manual_of(const Operation& operation);
/// The manual page of the program: its commands.
std::string manual_of(const Commands& commands);

/// The scripts that complete command lines of `sextant` in bash and in zsh: commands, options, and
/// values of a fixed list; other values are names of files.
std::string bash_completion(std::span<const Operation* const> operations);
std::string zsh_completion(std::span<const Operation* const> operations);

} // namespace sextant::command
