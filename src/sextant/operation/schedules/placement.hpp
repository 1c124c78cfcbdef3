// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/profile.hpp"
#include "sextant/operation/operation.hpp"
#include "sextant/planner/usual.hpp"

#include <vector>

namespace sextant::operation {

/// The machine of a question about ranks that are not here, and where on it they lie.
struct Placement {
    planner::UsualPlanner usual;
    std::vector<int> nodes; ///< by rank; empty: each on its own
    machine::Link within_node = machine::Link::same_node;

    const machine::Profile& machine() const { return usual.planner->machine(); }
};

/// --transport, --ranks-per-node and --machine.
std::vector<Parameter> placement_parameters();

/// As asked; without a transport, as the profile was measured: threads share a node, processes fill
/// one node after another. Warns of profiles that were passed over.
/// Throws    InvalidFile, of a profile that was named.
Placement placement_of(const Values& values, int ranks);

} // namespace sextant::operation
