// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"

namespace sextant::command {

/// Runs the command that a command line names; each operation is a subcommand, made from its
/// declaration. Returns the exit code: 2 if the command line is wrong, 1 if the operation failed.
/// Commands of the laboratory and of the papers are run by their programs.
int main_of(const Commands& commands, int argc, char** argv);

} // namespace sextant::command
