// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/page.hpp"
#include "sextant/report/recording.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sextant::report {

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
