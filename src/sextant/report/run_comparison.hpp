// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/page.hpp"
#include "sextant/report/recording.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sextant::report {

/// Shows the activities of ranks in one or more runs on one time axis: one lane per rank, messages
/// as arrows, the critical path, with zoom. The lanes of a rank in all runs are adjacent.
///
/// If there are more than 256 ranks, neighbours share a lane; with more than 200,000 events,
/// neighbouring events are merged; with more than 100,000 messages, arrows are left out. The
/// section states which of these apply.
/// Requires  recordings that meet the requirements of `bars`.
Section timeline_section(std::span<const Recording> recordings);

/// Returns a page about one or more runs: times and traffic, activities of ranks on one time axis,
/// causes of the run time, and messages of each.
/// Requires  recordings that meet the requirements of `bars`.
Page comparison(std::string title, std::span<const Recording> recordings);

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

/// The bandwidth between two ranks: all bytes divided by the time of all messages, each measured
/// from when both sides were ready until it arrived. If the size of an element is unknown, elements
/// are counted instead of bytes.
struct PairBandwidth {
    int from = 0, to = 0;
    std::int64_t messages = 0;
    double bytes = 0;
    Seconds seconds = 0;

    double per_second() const { return seconds > 0 ? bytes / seconds : 0; }
};

/// Returns bandwidths ordered by sender, then receiver. Pairs without messages, or whose messages
/// took no measurable time, are left out.
std::vector<PairBandwidth> bandwidths(const Recording& recording);

/// Each returns an SVG: the bandwidth of each pair of ranks as a matrix, or the histogram of these
/// bandwidths. With many ranks, neighbours share a cell of the matrix. Without contention, all
/// cells have the same shade.
/// Source    Cavin and Demengeon, EGPGV 2012, doi:10.2312/EGPGV/EGPGV12/129-138
std::string bandwidth_matrix(const Recording& recording);
std::string bandwidth_histogram(const Recording& recording);

/// Shows bytes (elements if their size is unknown) and messages sent and received by each rank, and
/// the bandwidth of each pair of ranks unless messages used shared buffers. Empty if there was no
/// message.
Section traffic_section(const Recording& recording);

} // namespace sextant::report
