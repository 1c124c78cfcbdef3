// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/planner/usual.hpp"

#include <string>
#include <vector>

namespace sextant::calibrate {

/// The planner of ranks that are here: planner::usual_planner of the machine asked for, or of this
/// one; where nothing was calibrated, by a probe of this machine, which takes about a
/// second and is kept (probe_file.hpp). It is provisional, and the profile's name says so.
///
/// Input     the nodes of the ranks; a profile, or "".
/// Output    of a probe the same on all ranks; of a profile what each reads, and no planner on a
///           rank other than 0 that cannot read it.
/// Throws    InvalidFile, on all ranks, of a profile that rank 0 cannot read. Collective.
planner::UsualPlanner planner_here(const Communicator& communicator, const std::vector<int>& nodes,
                                   const std::string& machine, planner::Probing probing);

/// For operations that plan on every rank. Throws InvalidTask where there is no planner.
void require_planner(const planner::UsualPlanner& usual);

/// The same for ranks that are not here, which nothing is measured for: by what was kept of as
/// many.
planner::UsualPlanner planner_of(const std::string& transport, int ranks,
                                 const std::string& machine);

} // namespace sextant::calibrate
