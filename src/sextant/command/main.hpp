// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"

namespace sextant::command {

/// Runs the command that a command line names, one subcommand an operation, made from the
/// operations' declarations. Returns the exit code: 2 where the command line is wrong, 1 where the
/// operation failed. Starts `sextant-lab` for what only that has.
int main_of(const Commands& commands, int argc, char** argv);

} // namespace sextant::command
