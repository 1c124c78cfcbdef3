// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/simulate/simulate.hpp"

#include <string>

namespace sextant::simulate {

/// The name of the program that simulates by SimGrid. It is a program because SimGrid's library has
/// functions of MPI's names, which would take the place of MPI's own in any process that loads it;
/// and because SimGrid holds one world a process, and ends the process where its input is wrong.
inline constexpr const char* simulator_name = "sextant-simgrid";

/// Where that program is, of the folders that machine::installation() names; "" where it is not.
std::string simulator_path();

/// Starts that program, puts a question to it, and gives its answer. The program ends with the
/// thread that calls.
///
/// Throws    as `simulate`; Error with the last line that the program wrote where it ends without
///           an answer.
Simulation ask(const std::string& program, const Question& question);

} // namespace sextant::simulate
