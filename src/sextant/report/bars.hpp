// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/report/shared_lanes.hpp"
#include "sextant/schedule/trace.hpp"

#include <cstdint>
#include <vector>

namespace sextant::report {

/// A stretch of a timeline: one event, or several of a kind that nothing visible lies between.
struct Bar {
    Event event; ///< the first of them, up to the end of the last
    std::int64_t events = 1;
    int row = 0; ///< among the messages of its rank: sends, then receives; none overlap in a row
};

/// What there is to draw of a trace.
struct Bars {
    std::vector<Bar> messages, work; ///< by rank, then begin
    int rows = 1;                    ///< of messages, of the rank with the most
    Seconds duration = 0;
    Seconds pause =
        0; ///< what lay between events of a merged bar is not longer; 0: none are merged
};

/// Every event a bar where there are at most `most`, else as few as it takes.
/// Requires  what `timeline` requires.
Bars bars(const Trace& trace, int ranks, std::size_t most);

/// The same with lanes in place of ranks; where several ranks share one, events of a kind that
/// overlap there are one bar.
Bars bars(const Trace& trace, const SharedLanes& lanes, std::size_t most);

} // namespace sextant::report
