// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/machine/profile.hpp"
#include "sextant/planner/planner.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sextant::calibrate {

/// The ranks and transport that a probe is valid for.
struct ProbedRanks {
    /// "threads", "mpi", or "shared" for processes that read each other's memory.
    std::string exchange;
    int ranks = 0;
    bool operator==(const ProbedRanks&) const = default;
};

/// The conditions under which a probe is valid, as text: the ranks, the host with its processor and
/// cores, and the versions of MPI and Sextant.
std::string probe_key(const ProbedRanks& ranks);

/// The path of the cached probe: in sextant/probes of $XDG_CACHE_HOME, or of ~/.cache. Empty if
/// neither is known.
std::string probe_path(const ProbedRanks& ranks);

/// The cached probe for these ranks, from this process or an earlier one. Empty if the file is
/// missing, damaged, from another machine or version, or older than a month, or than an hour if the
/// machine was busy.
std::optional<machine::Profile> kept_probe(const ProbedRanks& ranks);

/// Caches a probe; if its file cannot be written, for this process only.
void keep_probe(const ProbedRanks& ranks, const machine::Profile& profile);

/// The planner for the ranks of this communicator: planner::default_planner with the profile
/// `machine`, or with this machine's profile. If there is no profile, this machine is probed, which
/// takes about a second; the probe is cached (kept_probe). The name of a probed profile states that
/// it is provisional.
///
/// Input     the nodes of the ranks; a profile, or "".
/// Output    a planner: from a probe, the same on all ranks; from a profile, as each rank reads it.
///           It is null on a rank other than 0 that cannot read the profile.
/// Throws    InvalidFile, on all ranks, if rank 0 cannot read the profile.
/// Collective.
planner::DefaultPlanner planner_here(const Communicator& communicator,
                                     const std::vector<int>& nodes, const std::string& machine,
                                     planner::Probing probing);

/// Warns if the profile was measured on another machine or with another MPI: plans can be made with
/// it, but its times are not those of this machine.
void warn_of_other_machine(const planner::DefaultPlanner& usual,
                           std::vector<std::string>& warnings);

/// Throws InvalidTask if there is no planner; for operations that plan on every rank.
void require_planner(const planner::DefaultPlanner& usual);

/// The planner for a number of ranks that are not running: nothing is measured, but a cached probe
/// of the same number of ranks is used.
planner::DefaultPlanner planner_of(const std::string& transport, int ranks,
                                   const std::string& machine);

} // namespace sextant::calibrate
