// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/profile.hpp"
#include "sextant/operation/operation.hpp"
#include "sextant/planner/planner.hpp"

#include <memory>
#include <vector>

namespace sextant::operation {

/// The machine of a question about ranks that are not here, and where on it they lie.
struct Placement {
    std::shared_ptr<planner::Planner> planner;
    std::vector<int> nodes; ///< by rank; empty: each on its own
    machine::Link within_node = machine::Link::same_node;

    const machine::Profile& machine() const { return planner->machine(); }
};

/// --transport, --ranks-per-node and --machine.
std::vector<Parameter> placement_parameters();

/// As asked; without a transport, as the profile was measured: threads share a node, processes fill
/// one node after another. On a platform each node takes a rank a core. Warns of profiles that were
/// passed over.
/// Throws    InvalidFile, of a profile or platform that was named; InvalidTask, of an unknown name,
///           a platform with too few cores or a transport asked of it.
Placement placement_of(const Values& values, int ranks);

} // namespace sextant::operation
