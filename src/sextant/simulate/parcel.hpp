// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/simulate/channel.hpp"
#include "sextant/simulate/simulate.hpp"

#include <functional>
#include <memory>

namespace sextant::simulate {

/// A question on its way from the process that asks to the one that simulates.
void put_question(Channel& to, const Question& question);

/// A question that arrived, with the schedule that it refers to.
struct ArrivedQuestion {
    std::unique_ptr<const Schedule> schedule;
    Question question;
};

/// Throws Error where the other process is of another version of Sextant.
ArrivedQuestion get_question(Channel& from);

/// Sends what a simulation gives, or the exception that it ends in.
void put_answer(Channel& to, const std::function<Simulation()>& simulation);

/// The answer: returns or throws what the simulation did. Exceptions that are not InvalidTask,
/// InvalidFile or std::logic_error become Error.
Simulation get_answer(Channel& from);

} // namespace sextant::simulate
