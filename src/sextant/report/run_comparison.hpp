// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/page.hpp"
#include "sextant/report/recording.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sextant::report {

/// Shows the activities of the ranks in one or more runs on one time axis, with one lane per rank,
/// messages as arrows, the critical path, and zoom. The lanes of the same rank in all runs are
/// adjacent.
///
/// With more than 256 ranks, neighbouring ranks share a lane; with more than 200,000 events,
/// neighbouring events are merged; with more than 100,000 messages, arrows are omitted. The section
/// states which of these apply.
/// Requires  recordings that satisfy the requirements of `bars`.
Section timeline_section(std::span<const Recording> recordings);

/// Returns a page about one or more runs: times and traffic, activities of the ranks on one time
/// axis, causes of the run time, and messages of each run.
/// Requires  recordings that satisfy the requirements of `bars`.
Page comparison(std::string title, std::span<const Recording> recordings);

/// The chain of events that determined the time of a run, traced back from the end of the run. Each
/// event started when the previous event of the chain allowed it to start: an event of the same
/// rank or, if a message waited for its other side, an event of the other rank. The send of a
/// shared buffer ends when the receiver returns the buffer, after an event of the receiver.
struct CriticalPath {
    struct Point {
        int rank = 0;
        Seconds time = 0;
    };
    std::vector<Point> points; ///< the path; consecutive points are connected by straight lines
    Seconds work = 0;          ///< time in folds, copies and computations
    Seconds messages = 0;      ///< time in messages in transit
    Seconds between = 0;       ///< time between events
    int changes = 0;           ///< number of times that the path changes to another rank
};

/// Returns the critical path. Its work, messages and time between events sum to the end of the last
/// event.
/// Cost      sorting the events.
CriticalPath critical_path(const Recording& recording);

/// The time that a rank waited until a message from or to another rank ended.
struct Waiting {
    int rank = 0, peer = 0;
    Seconds seconds = 0;
};

/// Returns the waiting time of each pair of rank and peer, longest first. A wait is attributed to
/// the message that ended it: the last message of the rank that ended during the wait. The peer is
/// -1 for waits that no message ended.
std::vector<Waiting> waiting(const Trace& trace);

/// Explains the times of runs: the composition of their critical paths, side by side, and, for each
/// run, the ranks that waited for others. Empty if nothing was recorded.
Section causes_section(std::span<const Recording> recordings);

/// The bandwidth between two ranks: the total bytes divided by the total time of the messages. A
/// message is timed from when both sides are ready until it arrives. If the size of an element is
/// unknown, elements are counted instead of bytes.
struct PairBandwidth {
    int from = 0, to = 0;
    std::int64_t messages = 0;
    double bytes = 0;
    Seconds seconds = 0;

    double per_second() const { return seconds > 0 ? bytes / seconds : 0; }
};

/// Returns bandwidths ordered by sender, then receiver. Pairs are omitted if they have no messages,
/// or if their messages took no measurable time.
std::vector<PairBandwidth> bandwidths(const Recording& recording);

/// Each function returns an SVG: the bandwidth of each pair of ranks as a matrix, or the histogram
/// of these bandwidths. With many ranks, neighbouring ranks share a cell of the matrix. Without
/// contention, all cells have the same shade.
/// Source    Cavin and Demengeon, EGPGV 2012, doi:10.2312/EGPGV/EGPGV12/129-138
std::string bandwidth_matrix(const Recording& recording);
std::string bandwidth_histogram(const Recording& recording);

/// Shows the bytes (or elements, if their size is unknown) and messages that each rank sent and
/// received, and the bandwidth of each pair of ranks unless messages used shared buffers. Empty
/// without messages.
Section traffic_section(const Recording& recording);

} // namespace sextant::report
