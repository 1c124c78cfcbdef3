// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/child_process.hpp"
#include "sextant/simulate/simulation.hpp"

#include <functional>
#include <memory>
#include <string>

namespace sextant::simulate {

/// Sends a question to the simulating process.
void put_question(Channel& to, const Question& question);

/// A received question, with the schedule that it refers to.
struct ArrivedQuestion {
    std::unique_ptr<const Schedule> schedule;
    Question question;
};

/// Receives a question. Throws Error if the other process has another version of Sextant.
ArrivedQuestion get_question(Channel& from);

/// Sends the result of a simulation, or the exception that ended it.
void put_answer(Channel& to, const std::function<Simulation()>& simulation);

/// Receives an answer: returns the result of the simulation or throws its exception. Exceptions
/// other than InvalidTask, InvalidFile and std::logic_error become Error.
Simulation get_answer(Channel& from);

/// The name of the program that simulates with SimGrid. It is a separate program because SimGrid's
/// library defines functions with MPI's names, which would replace MPI's in any process that loads
/// it; and because SimGrid allows one simulation per process and exits on invalid input.
inline constexpr const char* simulator_name = "sextant-simgrid";
/// The exit code of this program if SimGrid crashes on a platform; its last line is the reason.
inline constexpr int crashed_on_platform = 3;

/// The path of the program `simulator_name`, searched for in machine::installation(); "" if it is
/// not found.
std::string simulator_path();

/// Starts `program`, sends it a question and returns its answer. The program is killed when the
/// calling thread ends.
///
/// Throws    as `simulate`; InvalidFile if SimGrid crashes on the platform; Error with the last
/// line that the program wrote if it ends without an
///           answer.
Simulation ask(const std::string& program, const Question& question);

} // namespace sextant::simulate
