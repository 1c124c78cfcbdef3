// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"

#include <span>
#include <string>

// Manual pages and completions of shells, made from the declared options.
namespace sextant::command {

/// The manual page of a command, in the language of man(7).
std::string manual_of(const Operation& operation);
/// The manual page of the program: its commands.
std::string manual_of(const Commands& commands);

/// What completes command lines of `sextant` in bash, and in zsh: commands, options, and values
/// that are choices; other values are names of files.
std::string bash_completion(std::span<const Operation* const> operations);
std::string zsh_completion(std::span<const Operation* const> operations);

} // namespace sextant::command
