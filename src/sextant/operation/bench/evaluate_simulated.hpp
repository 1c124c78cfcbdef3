// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/operation/bench/evaluation.hpp"

#include <string>

namespace sextant::operation {

/// Planning for a machine that need not be there.
struct SimulatedMachine {
    std::string platform; ///< a file in our own words
    int ranks = 2;
    /// How many ways are simulated a case, at most, besides those of the planner and of policies:
    /// half those that the planner ranks next, half evenly from all, in the order of the catalogue.
    int ways = 64;
    /// Whether the planner knows the links of the platform, or only what a message costs alone.
    bool knows_links = true;
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

} // namespace sextant::operation
