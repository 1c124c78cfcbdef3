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

/// All activities, in order of their numeric values.
inline constexpr std::array activities = {Activity::send, Activity::receive, Activity::fold,
                                          Activity::copy, Activity::compute, Activity::wait};

/// Returns the colour of an activity, which is the same in every timeline.
Colour colour_of(Activity activity);

/// Lanes for ranks. With too many ranks to distinguish, neighbouring ranks share a lane.
struct SharedLanes {
    static constexpr int most = 256;

    explicit SharedLanes(int ranks);

    int ranks = 0, lanes = 0, ranks_per_lane = 1;

    bool shared() const { return ranks_per_lane > 1; }
    int lane_of(int rank) const { return rank / ranks_per_lane; }
    /// Returns "rank 3" or "ranks 12-15".
    std::string name(int lane) const;

    /// Returns the trace with the rank of each event replaced by its lane; peers are still ranks.
    Trace events_by_lane(const Trace& trace) const;
};

/// A bar of a timeline: one event, or several events of the same kind without a visible gap.
struct Bar {
    Event event; ///< the first event, extended to the end of the last event
    std::int64_t events = 1;
    /// Row among the messages of the rank: first sends, then receives. Bars in the same row do not
    /// overlap.
    int row = 0;
};

/// The bars of a trace.
struct Bars {
    std::vector<Bar> messages, work; ///< ordered by rank, then by begin
    int rows = 1;                    ///< maximum number of message rows of a rank
    Seconds duration = 0;
    Seconds pause = 0; ///< longest gap within a merged bar; 0 if none are merged
};

/// Returns one bar per event if there are at most `most` events; otherwise merges events until
/// there are at most `most` bars.
/// Requires  events that satisfy the requirements of `timeline`.
Bars bars(const Trace& trace, int ranks, std::size_t most);

/// Returns the bars of lanes. If several ranks share a lane, overlapping events of the same kind in
/// the lane become one bar.
Bars bars(const Trace& trace, const SharedLanes& lanes, std::size_t most);

struct TimelineOptions {
    std::string title = "Timeline";
    std::string subtitle;
    /// With more events, neighbouring events without a visible gap share a bar, and a note states
    /// this.
    int most_drawn = 10'000;
};

/// Draws the activities of ranks over time: one lane per rank, time to the right. Messages in
/// transit are above the line of a rank; work and waiting are below.
///
/// Input     the events of all ranks in any order, with times on one clock or on aligned clocks.
///           May be empty.
/// Output    SVG that can be used alone or in a page. With more than 256 ranks, neighbouring ranks
///           share a lane, and a note states this.
/// Requires  events of ranks below `ranks`, finite times, and no event that ends before it begins;
///           otherwise throws std::logic_error naming the event.
/// Deterministic.
std::string timeline(const Trace& trace, int ranks, const TimelineOptions& options = {});

} // namespace sextant::report
