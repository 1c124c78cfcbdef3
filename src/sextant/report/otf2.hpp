// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/recording.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sextant::report {

/// Whether this build can write archives of the Open Trace Format 2 (https://www.vi-hps.org).
bool otf2_available();

/// Whether a path is of such an archive: its name ends in .otf2, or in .otf2/.
bool is_otf2(const std::string& path);

/// Throws InvalidFile where an archive could not be begun at `folder` now, Error where this build
/// writes none, which says what to install. Leaves nothing.
void require_otf2(const std::string& folder);

/// A recording as an archive: a folder with traces.otf2, which Vampir opens, and the files that
/// this names. docs/trace.md says what of a recording is where. Appears whole or not at all, in
/// place of an archive already there. Deterministic.
///
/// Requires  what `otf2_locations` requires, and what `require_otf2` does.
void write_otf2(const std::string& folder, const Recording& recording);

/// A second has that many ticks of the clock of an archive: less than the shortest step takes.
inline constexpr std::uint64_t otf2_ticks = 1'000'000'000'000;

/// What is noted at one time: an end of an event.
struct Otf2Record {
    std::uint64_t time = 0; ///< in ticks from the start of the run
    std::size_t event = 0;  ///< place among `Trace::events`
    bool begins = false;    ///< else it ends
    std::uint32_t tag =
        0; ///< of a message: equal on both sides, another for each from a rank to one
};

/// What happened one after another: on a rank, or beside it where what it does overlaps.
struct Otf2Location {
    int rank = 0;
    std::vector<Otf2Record> records; ///< times never decrease, and what begins ends here
};

/// A recording as an archive holds it. The first locations are those of the ranks, in order, with
/// all their messages and their work. Stretches of work do not overlap on a location, as regions of
/// an archive have to be nested: one that overlaps another of its rank goes to a further location.
///
/// Requires  ranks and peers of the recording, and times that are finite, not negative, of at most
///           100 days and in order (std::logic_error).
std::vector<Otf2Location> otf2_locations(const Recording& recording);

/// Seconds in ticks, to the nearest.
std::uint64_t otf2_time(Seconds seconds);

} // namespace sextant::report
