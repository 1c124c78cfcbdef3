// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/page.hpp"
#include "sextant/report/recording.hpp"

#include <span>
#include <vector>

namespace sextant::report {

/// The chain of events that made a run last as long as it did. Seen from the end: each event began
/// when it did because of the one before it, on its own rank or, where a message waited for its
/// other side, on that rank; a loan ended because of what its receiver did last.
struct CriticalPath {
    struct Point {
        int rank = 0;
        Seconds time = 0;
    };
    std::vector<Point>
        points;           ///< where the path is when; between two of them it is a straight line
    Seconds work = 0;     ///< folds, copies and computations on it
    Seconds messages = 0; ///< on their way
    Seconds between = 0;  ///< nothing recorded: what it takes to go from event to event
    int changes = 0;      ///< how often it goes to another rank
};

/// Work, messages and what lies between add up to when the last event ends.
/// Cost   sorting the events.
CriticalPath critical_path(const Recording& recording);

/// How long a rank had nothing to do until a message with another came.
struct Waiting {
    int rank = 0, peer = 0;
    Seconds seconds = 0;
};

/// Who waited for whom, the longest first: each wait counts for the message that ended it, the last
/// one that its rank saw end in it. Waits that no message ended have no peer (-1).
std::vector<Waiting> waiting(const Trace& trace);

/// Why runs lasted as long as they did: what their critical paths consist of, beside each other,
/// and who waited for whom in each. Nothing where nothing was recorded.
Section causes_section(std::span<const Recording> recordings);

} // namespace sextant::report
