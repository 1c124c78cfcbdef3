// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/machine/profile.hpp"
#include "sextant/planner/planner.hpp"

#include <limits>
#include <string>
#include <vector>

namespace sextant::calibrate {

/// Work that may be preceded by the longest probe.
inline constexpr Seconds any_work = std::numeric_limits<Seconds>::infinity();

/// Returns the planner for the ranks of this communicator: planner::default_planner with the
/// profile `machine`, or with this machine's profile. If there is no profile, probes this machine:
/// for a tenth of the time that the work is expected to take, but for at least 20 ms and at most
/// about a second. The probe is cached, in this process and in a file, for a month, or for an hour
/// if the machine was busy, until work that takes longer allows a better one; it applies to the
/// same number of ranks of the same host, MPI and version of Sextant. The name of a probed profile
/// states that it is provisional.
///
/// Input     the nodes of the ranks; a profile, or ""; the expected time of the planned work, which
///           limits the time of a probe (`any_work`: no limit but the longest time).
/// Output    a planner: the same on all ranks if made from a probe; else made from the profile as
///           each rank reads it. The planner is null on a rank other than 0 that cannot read the
///           profile. Rank 0 is warned if the profile was measured on another machine or with
///           another MPI: its times are not those of this machine.
/// Throws    InvalidFile, on all ranks, if rank 0 cannot read the profile.
/// Collective.
planner::DefaultPlanner planner_here(const Communicator& communicator,
                                     const std::vector<int>& nodes, const std::string& machine,
                                     planner::Probing probing, Seconds work = any_work);

/// A rough estimate of the time to process data, for planner_here: memory is read and written a few
/// times at eight gigabytes per second.
inline Seconds work_on(double bytes) {
    return bytes / 4e9;
}

/// False if this machine may not be measured: SEXTANT_PROBE=off in the environment, or
/// Probing::off.
bool may_measure(planner::Probing probing);

/// Throws InvalidTask if there is no planner; for operations that plan on every rank.
void require_planner(const planner::DefaultPlanner& usual);

/// Returns the planner for a number of ranks that are not running. Measures nothing, but uses a
/// cached probe of the same number of ranks. Warns if this machine's profile, which is used if
/// `machine` is empty, was measured on another machine.
planner::DefaultPlanner planner_of(const std::string& transport, int ranks,
                                   const std::string& machine);

} // namespace sextant::calibrate
