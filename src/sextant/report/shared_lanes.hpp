// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/trace.hpp"

#include <string>

namespace sextant::report {

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

} // namespace sextant::report
