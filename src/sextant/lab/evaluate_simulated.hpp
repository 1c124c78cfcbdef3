// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/lab/evaluation.hpp"
#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/program.hpp"

#include <string>
#include <vector>

namespace sextant::lab {

/// The wave of each step of a program: the length of the longest chain of received messages on
/// which the step, or an earlier local step of the program, depends. If the program has a window,
/// at least the number of windows before the step's round.
std::vector<int> waves_of(const Program& program, const Dependences& dependences);

/// A machine to simulate, and how to plan for it.
struct SimulatedMachine {
    std::string platform; ///< a platform file in Sextant's format
    int ranks = 2;
    /// Maximum number of configurations simulated per case, in addition to those of the planner and
    /// the policies: half are those that the planner ranks next, half are evenly spaced in the
    /// catalogue.
    int configurations = 64;
    /// Use Sextant's own simulator instead of SimGrid: much faster with thousands of concurrent
    /// messages.
    bool on_clock = false;
};

/// Plans the compositing of small, medium and large images, left distributed, with the platform's
/// profile; then simulates the chosen and other configurations with link contention. Omits
/// configurations that would take SimGrid too long, but never the chosen one.
/// Simulations have no noise, so the evaluation has one launch.
///
/// Throws    as simulate::read_platform and simulate::simulate.
Evaluation evaluate_simulated(const SimulatedMachine& machine);

} // namespace sextant::lab
