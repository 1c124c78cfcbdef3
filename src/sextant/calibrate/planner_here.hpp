// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/machine/profile.hpp"
#include "sextant/planner/planner.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sextant::calibrate {

/// Where and by whom messages are exchanged: what a probe holds for.
struct ProbedRanks {
    /// "threads", "mpi", or "shared": processes that read each other's memory.
    std::string exchange;
    int ranks = 0;
    bool operator==(const ProbedRanks&) const = default;
};

/// What a probe of this machine holds for, as text: those ranks, the host with its processor and
/// cores, MPI and Sextant with their versions.
std::string probe_key(const ProbedRanks& ranks);

/// Where what was probed is kept: in sextant/probes of $XDG_CACHE_HOME, or of ~/.cache. Empty where
/// neither is known.
std::string probe_path(const ProbedRanks& ranks);

/// What was probed for such ranks, by this process or an earlier one. Nothing where the file is
/// missing, damaged, of another machine or version, or too old: a month; an hour where the machine
/// was busy.
std::optional<machine::Profile> kept_probe(const ProbedRanks& ranks);

/// Keeps a probe; where its file cannot be written, for this process only.
void keep_probe(const ProbedRanks& ranks, const machine::Profile& profile);

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
