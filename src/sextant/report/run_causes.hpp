// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/page.hpp"
#include "sextant/report/recording.hpp"

#include <span>
#include <vector>

namespace sextant::report {

/// The chain of events that determined the time of a run, traced back from the end of the run. Each
/// event started when the previous event of the chain allowed it: an event of the same rank or, if
/// a message waited for its other side, of that side's rank. The send of a shared buffer ended when
/// the receiver returned the buffer, after an event of the receiver.
struct CriticalPath {
    struct Point {
        int rank = 0;
        Seconds time = 0;
    };
    std::vector<Point> points; ///< the path; straight lines between points
    Seconds work = 0;          ///< folds, copies and computations
    Seconds messages = 0;      ///< messages in transit
    Seconds between = 0;       ///< time between events, in which nothing was recorded
    int changes = 0;           ///< number of changes of rank
};

/// Returns the critical path. Its work, messages and time between events add up to the end of the
/// last event.
/// Cost      sorting the events.
CriticalPath critical_path(const Recording& recording);

/// The time that a rank was idle until a message with another rank ended.
struct Waiting {
    int rank = 0, peer = 0;
    Seconds seconds = 0;
};

/// Returns the waiting time of each pair of rank and peer, longest first. A wait is attributed to
/// the message that ended it: the last message of its rank that ended during the wait. The peer is
/// -1 for waits that no message ended.
std::vector<Waiting> waiting(const Trace& trace);

/// Explains the times of runs: the composition of their critical paths, side by side, and the ranks
/// that waited for others in each. Empty if nothing was recorded.
Section causes_section(std::span<const Recording> recordings);

} // namespace sextant::report
