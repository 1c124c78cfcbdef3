// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/page.hpp"
#include "sextant/report/recording.hpp"

#include <span>
#include <vector>

namespace sextant::report {

/// The chain of events that determined the time of a run, found from its end. The start of each
/// event was determined by the previous one, on its own rank or, if a message waited for its other
/// side, on that rank; the end of a shared buffer's use was determined by the last event of its
/// receiver.
struct CriticalPath {
    struct Point {
        int rank = 0;
        Seconds time = 0;
    };
    std::vector<Point> points; ///< the path; straight lines between points
    Seconds work = 0;          ///< folds, copies and computations
    Seconds messages = 0;      ///< messages in transit
    Seconds between = 0;       ///< nothing recorded, between events
    int changes = 0;           ///< number of changes of rank
};

/// Its work, messages and time between events add up to the end of the last event.
/// Cost      sorting the events.
CriticalPath critical_path(const Recording& recording);

/// The time that a rank was idle until a message with another rank ended.
struct Waiting {
    int rank = 0, peer = 0;
    Seconds seconds = 0;
};

/// Returns all waits by rank and peer, longest first. A wait counts for the message that ended it,
/// the last one of its rank that ended during it. Waits that no message ended have the peer -1.
std::vector<Waiting> waiting(const Trace& trace);

/// Explains the times of runs: the composition of their critical paths, side by side, and the ranks
/// that waited for others in each. Empty if nothing was recorded.
Section causes_section(std::span<const Recording> recordings);

} // namespace sextant::report
