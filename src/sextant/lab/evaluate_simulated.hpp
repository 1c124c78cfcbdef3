// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/lab/evaluation.hpp"
#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/program.hpp"

#include <string>
#include <vector>

namespace sextant::model {

/// The wave of each step of a program: how many messages, one after another, its rank must have
/// received before it, or before work that precedes it in the program. Under a window, no fewer
/// than the windows before its round.
std::vector<int> waves_of(const Program& program, const Dependences& dependences);

} // namespace sextant::model

namespace sextant::command {

/// Planning for a machine that need not be there.
struct SimulatedMachine {
    std::string platform; ///< a file in our own words
    int ranks = 2;
    /// How many ways are simulated a case, at most, besides those of the planner and of policies:
    /// half those that the planner ranks next, half evenly from all, in the order of the catalogue.
    int ways = 64;
    /// Whether our own clock judges, which thousands of messages at once do not keep busy for long,
    /// and not SimGrid.
    bool on_clock = false;
};

/// Small, medium and large pictures, left distributed: what the planner chooses with the profile of
/// the platform, and what it and others take in simulation, links shared. Ways whose messages take
/// SimGrid long are left out, but for the chosen. Other than measurements these hold no noise:
/// one launch is all there is.
///
/// Throws    as simulate::read_platform, simulate::simulate.
Evaluation evaluate_simulated(const SimulatedMachine& machine);

} // namespace sextant::command
