// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"
#include "sextant/core/units.hpp"

#include <string>
#include <vector>

namespace sextant::command {

/// What separate launches of this command are to do.
struct Launches {
    int count = 5;
    Seconds budget = 60;              ///< of all together, with what starting them takes
    std::string launcher;             ///< put before the command, "mpirun -n 2"; empty for threads
    std::string file;                 ///< to which each adds its launch
    std::vector<std::string> options; ///< handed on
};

/// Starts `sextant calibrate` so often, one after another, each as a process of its own that adds a
/// launch to the file and has an equal part of what is left of the budget.
///
/// Throws    Error naming the command that failed or did not end.
void run_launches(const Launches& launches);

} // namespace sextant::command
