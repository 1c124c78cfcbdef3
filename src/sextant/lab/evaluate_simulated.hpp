// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/lab/evaluation.hpp"
#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/program.hpp"

#include <string>
#include <vector>

namespace sextant::lab {

/// Returns the wave of each step of a program: the maximum number of consecutive received messages
/// on which the step, or an earlier local step of the program, depends. If the program has a
/// window, the wave is at least the number of windows before the step's round.
std::vector<int> waves_of(const Program& program, const Dependences& dependences);

/// A machine to simulate, and options for planning.
struct SimulatedMachine {
    std::string platform; ///< platform file in Sextant's format
    int ranks = 2;
    /// Maximum number of configurations simulated per case, in addition to those of the planner and
    /// the policies. Half of these are the next in the planner's ranking; half are evenly spaced in
    /// the catalogue.
    int configurations = 64;
    /// Use Sextant's own simulator instead of SimGrid; much faster with thousands of concurrent
    /// messages.
    bool on_clock = false;
};

/// Plans the compositing of small, medium and large images, left distributed, with the platform's
/// profile. Then simulates the chosen and other configurations with link contention. Omits
/// configurations whose simulation with SimGrid would take too long, but never the chosen one.
/// Simulations have no noise, so the evaluation has one launch.
///
/// Throws    the same as simulate::read_platform and simulate::simulate.
Evaluation evaluate_simulated(const SimulatedMachine& machine);

} // namespace sextant::lab
