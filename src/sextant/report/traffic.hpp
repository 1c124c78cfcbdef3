// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/page.hpp"
#include "sextant/report/recording.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sextant::report {

/// What the messages of a pair of ranks reached: all their bytes over all the time they took, each
/// from when both sides were there until it had arrived. Where the size of an element is not known,
/// elements stand for bytes.
struct PairBandwidth {
    int from = 0, to = 0;
    std::int64_t messages = 0;
    double bytes = 0;
    Seconds seconds = 0;

    double per_second() const { return seconds > 0 ? bytes / seconds : 0; }
};

/// By sender, then receiver; pairs that exchange nothing, or in no time, are left out.
std::vector<PairBandwidth> bandwidths(const Recording& recording);

/// As SVGs: who reaches what with whom, as a matrix of ranks, and how many pairs reach how much.
/// Of many ranks neighbours share a field. A network without contention is of one shade.
/// Source    Cavin and Demengeon, EGPGV 2012, doi:10.2312/EGPGV/EGPGV12/129-138
std::string bandwidth_matrix(const Recording& recording);
std::string bandwidth_histogram(const Recording& recording);

/// What each rank sent and received: bytes (elements, where their size is not known) and messages;
/// and which bandwidth each pair of ranks reached, unless messages were lent. Nothing where no
/// message passed.
Section traffic_section(const Recording& recording);

} // namespace sextant::report
