// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/lab/evaluation.hpp"
#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/program.hpp"

#include <string>
#include <vector>

namespace sextant::lab {

/// The wave of each step of a program: the number of successive messages that its rank must receive
/// before it, or before earlier work of the program. Under a window, at least the number of windows
/// before its round.
std::vector<int> waves_of(const Program& program, const Dependences& dependences);

/// A machine to simulate, and how to plan for it.
struct SimulatedMachine {
    std::string platform; ///< a file in Sextant's own format
    int ranks = 2;
    /// The most configurations simulated per case, besides those of the planner and the policies:
    /// half are ranked next by the planner, half taken evenly from the catalogue.
    int configurations = 64;
    /// Simulates on Sextant's own clock instead of SimGrid: much faster with thousands of
    /// concurrent messages.
    bool on_clock = false;
};

/// Plans small, medium and large images, left distributed, with the platform's profile, and
/// simulates the choice and others with link contention. Omits configurations that SimGrid takes
/// long for, but never the chosen one. Simulations have no noise, so there is one launch.
///
/// Throws    as simulate::read_platform and simulate::simulate.
Evaluation evaluate_simulated(const SimulatedMachine& machine);

} // namespace sextant::lab
