// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/operation/operation.hpp"
#include "sextant/planner/usual.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sextant::operation {

/// `--no-probe`, and what it says.
Parameter no_probe_parameter();
planner::Probing probing_of(const Values& values);

/// The planner of ranks that are here: planner::usual_planner of the machine asked for, or of this
/// one; where nothing was calibrated, by a probe of this machine, which takes half a second to a
/// second and is kept (probe_file.hpp). It is provisional, and the profile's name says so.
///
/// Input     the nodes of the ranks; a profile, or "".
/// Output    on all ranks the same, if that profile is.
/// Throws    InvalidFile, of a profile that was named, on all ranks. Collective.
planner::UsualPlanner planner_here(const Communicator& communicator, const std::vector<int>& nodes,
                                   const std::string& machine, planner::Probing probing);

/// The same for ranks that are not here. By MPI only what was kept can tell; so many threads are
/// started for a probe.
planner::UsualPlanner planner_of(std::string_view transport, int ranks, const std::string& machine,
                                 planner::Probing probing);

} // namespace sextant::operation
