// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"
#include "sextant/core/units.hpp"

#include <string>
#include <vector>

namespace sextant::command {

/// Parameters of separate launches of this command.
struct Launches {
    int count = 5;
    Seconds budget = 60;              ///< for all together, including starting them
    std::string launcher;             ///< command prefix, "mpirun -n 2"; empty for threads
    std::string file;                 ///< each launch adds its results to it
    std::vector<std::string> options; ///< passed on
};

/// Runs `sextant calibrate` `count` times, one process after another. Each process adds a launch to
/// the file and gets an equal part of the remaining budget. Throws Error, naming the command, if
/// one fails or does not end.
void run_launches(const Launches& launches);

} // namespace sextant::command
