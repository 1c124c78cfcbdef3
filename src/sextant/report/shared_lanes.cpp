// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/shared_lanes.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sextant::report {

SharedLanes::SharedLanes(int of) : ranks(of), ranks_per_lane(std::max(1, (of + most - 1) / most)) {
    lanes = (ranks + ranks_per_lane - 1) / ranks_per_lane;
}

std::string SharedLanes::name(int lane) const {
    const int first = lane * ranks_per_lane;
    const int last = std::min(first + ranks_per_lane, ranks) - 1;
    return first == last ? fmt::format("rank {}", first) : fmt::format("ranks {}-{}", first, last);
}

Trace SharedLanes::events_by_lane(const Trace& trace) const {
    Trace by_lane = trace;
    for (Event& event : by_lane.events)
        event.rank = event.rank < 0 ? event.rank : lane_of(event.rank);
    return by_lane;
}

} // namespace sextant::report
