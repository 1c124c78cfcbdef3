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

/// The machine of a hypothetical run, and the placement of its ranks on nodes.
struct Placement {
    std::shared_ptr<planner::Planner> planner;
    std::vector<int> nodes; ///< node of each rank; empty if each has its own node
    machine::Link within_node = machine::Link::same_node;

    const machine::Profile& machine() const { return planner->machine(); }
};

/// Options for the placement of the ranks of a hypothetical run.
struct PlacementOptions {
    std::string transport;                      ///< if empty, that of the named machine, else "mpi"
    std::optional<std::int64_t> ranks_per_node; ///< only for "mpi"; 1 if unset
    std::string machine;
};
Record record_of(PlacementOptions& options);

/// Returns the placement described by the options. By default, the transport is that of the named
/// machine, else MPI. Threads share a node; processes fill one node after another. On a platform,
/// each core has one rank. Prints warnings about profiles that were skipped.
///
/// Throws    InvalidFile if a named profile or platform is invalid; InvalidTask for an unknown
///           name, a platform with too few cores, or --transport with a platform.
Placement placement_of(const PlacementOptions& options, int ranks);

/// A machine described by a file: a measured profile, or a platform (docs/platform.md), which also
/// describes the links of the machine.
struct KnownMachine {
    machine::Profile profile;
    std::optional<machine::Wires> wires; ///< links of a platform
    std::vector<int> nodes;              ///< node of each rank on a platform: one rank per core
};

/// Returns the path of a profile or platform, given as a path or as the name of one that is
/// installed with Sextant ("das", "torus-8x8x8"). Throws InvalidTask, suggesting similar names, if
/// the name is unknown.
std::string machine_file(const std::string& given);

/// Returns true if the file describes a platform. Throws InvalidTask, InvalidFile.
bool is_platform(const std::string& given);

/// Reads a profile or platform. Throws InvalidFile; throws InvalidTask for an unknown name, or if
/// there are more ranks than the platform has cores.
KnownMachine known_machine(const std::string& given, int ranks);

} // namespace sextant::command
