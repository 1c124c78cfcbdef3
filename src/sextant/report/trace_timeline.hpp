// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/report/svg.hpp"
#include "sextant/schedule/trace.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace sextant::report {

/// All of them, in the order of their values.
inline constexpr std::array activities = {Activity::send, Activity::receive, Activity::fold,
                                          Activity::copy, Activity::compute, Activity::wait};

/// Its colour in every timeline.
Colour colour_of(Activity activity);

/// More lanes than this cannot be told apart: then neighbouring ranks share one.
struct SharedLanes {
    static constexpr int most = 256;

    explicit SharedLanes(int ranks);

    int ranks = 0, lanes = 0, ranks_per_lane = 1;

    bool shared() const { return ranks_per_lane > 1; }
    int lane_of(int rank) const { return rank / ranks_per_lane; }
    /// "rank 3", "ranks 12-15".
    std::string name(int lane) const;

    /// The events with lanes in place of their ranks; peers stay ranks.
    Trace events_by_lane(const Trace& trace) const;
};

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

struct TimelineOptions {
    std::string title = "Timeline";
    std::string subtitle;
    /// With more events than this, neighbours that differ by less than can be seen are one bar, and
    /// the picture says so.
    int most_drawn = 10'000;
};

/// The picture of what ranks did when: a lane a rank, time to the right, above the line the
/// messages on their way and below it the work and the waiting.
///
/// Input     the events of all ranks in any order, their times on one clock, or what is to
///           pass for one. No events give a picture too.
/// Output    SVG that stands alone or inside a page. Above 256 ranks neighbours share a lane, and
///           the picture says so.
/// Requires  events of ranks below `ranks`, times that are finite and no event that ends before it
///           begins; otherwise throws std::logic_error naming the event.
/// Deterministic.
std::string timeline(const Trace& trace, int ranks, const TimelineOptions& options = {});

} // namespace sextant::report
