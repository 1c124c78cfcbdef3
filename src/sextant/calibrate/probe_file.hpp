// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/profile.hpp"

#include <optional>
#include <string>

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

} // namespace sextant::calibrate
