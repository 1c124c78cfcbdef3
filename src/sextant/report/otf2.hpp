// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/recording.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sextant::report {

/// True if this build can write archives of the Open Trace Format 2 (https://www.vi-hps.org).
bool otf2_available();

/// True if a path names an OTF2 archive, by the extension .otf2 or .otf2/.
bool is_otf2(const std::string& path);

/// Throws InvalidFile if an archive cannot be created at `folder`, and Error, naming the missing
/// package, if this build cannot write archives. Leaves nothing behind.
void require_otf2(const std::string& folder);

/// Writes a recording as an archive: a folder with traces.otf2, which Vampir opens, and the other
/// files of the archive. docs/trace.md describes the mapping. Writes the whole archive or none, and
/// replaces an existing one. Deterministic, except for the unique identifier of the archive.
///
/// Requires  arguments that meet the requirements of `otf2_locations` and `require_otf2`.
void write_otf2(const std::string& folder, const Recording& recording);

/// Clock ticks per second in an archive: a tick is 1 ps, shorter than any step.
inline constexpr std::uint64_t otf2_ticks = 1'000'000'000'000;

/// The start or end of an event.
struct Otf2Record {
    std::uint64_t time = 0; ///< in ticks from the start of the run
    std::size_t event = 0;  ///< index into `Trace::events`
    bool begins = false;    ///< true at the event's start, false at its end
    /// Tag of a message: equal on both sides, unique per pair of sender and receiver.
    std::uint32_t tag = 0;
};

/// The records of one location: those of a rank, or of its work that overlaps other work.
struct Otf2Location {
    int rank = 0;
    std::vector<Otf2Record> records; ///< in order of time; both ends of each event
};

/// Converts a recording to an archive's locations. The first locations are those of the ranks in
/// order, with all their messages and work. Work that overlaps other work of its rank is on
/// additional locations, because the regions of a location must be nested.
///
/// Requires  ranks and peers below the number of ranks, and times that are finite, not negative, at
///           most 100 days and in order (std::logic_error).
std::vector<Otf2Location> otf2_locations(const Recording& recording);

/// Converts seconds to ticks, rounded to nearest.
std::uint64_t otf2_time(Seconds seconds);

} // namespace sextant::report
