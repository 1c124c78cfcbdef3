// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <string>

namespace sextant::command {

/// As a shell takes it for one word.
std::string quoted(const std::string& text);

/// This very program, as a word of a shell.
std::string own_command();

/// Runs a shell command as a process of its own, whose output nobody reads; errors go where ours
/// go. Ends it where it takes longer than `patience`.
/// Throws    Error naming the command that failed or did not end.
void run_process(const std::string& command, Seconds patience);

} // namespace sextant::command
