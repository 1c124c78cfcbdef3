// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"
#include "sextant/machine/profile.hpp"
#include "sextant/machine/topology.hpp"
#include "sextant/planner/planner.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sextant::command {

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

/// A machine that need not be there, as a file tells of it: a profile of what was measured, or a
/// platform (docs/platform.md), whose links are known too.
struct KnownMachine {
    machine::Profile profile;
    std::optional<machine::Wires> wires; ///< of a platform
    std::vector<int> nodes;              ///< of a platform, by rank: each takes one a core
};

/// The path of a profile or platform that a user gives, or names as one of those that Sextant ships
/// ("das", "torus-8x8x8"). Throws InvalidTask with near names.
std::string machine_file(const std::string& given);

/// Whether that file tells of a platform. Throws InvalidTask, InvalidFile.
bool is_platform(const std::string& given);

/// Throws    InvalidTask: an unknown name, more ranks than a platform has cores. InvalidFile.
KnownMachine known_machine(const std::string& given, int ranks);

} // namespace sextant::command
