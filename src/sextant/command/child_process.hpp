// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <string>

namespace sextant::command {

/// Quotes a text as one word of a shell.
std::string quoted(const std::string& text);

/// The path of this program, quoted for a shell.
std::string own_command();

/// Runs a shell command as a child process. Its output is discarded; it shares standard error. Ends
/// the process if it takes longer than `patience`. Throws Error, naming the command, if it fails or
/// does not end in time.
void run_process(const std::string& command, Seconds patience);

} // namespace sextant::command
