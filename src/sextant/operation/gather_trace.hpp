// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/clock_offset.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/scan/application.hpp"
#include "sextant/schedule/trace.hpp"

#include <vector>

namespace sextant::operation {

/// All ranks' events together, at rank 0; elsewhere none.
struct GatheredTrace {
    Trace trace;
    int clocks = 1; ///< how many clocks the times were taken on
    /// How these stood to rank 0's; empty where one clock could not be trusted.
    std::vector<ClockOffset> aligned = {};
};

/// Brings the events of a run to rank 0, their times on one clock, from the first start on. Clocks
/// of different hosts are aligned (clock_offsets); where one runs backwards none can be compared,
/// and each counts from the first start on it.
///
/// Input     how the clocks stood before the run, where that was asked: then drift is made up for.
/// Collective.
GatheredTrace gather_trace(const Communicator& communicator, const Trace& own,
                           const HostClock& clock = HostClock::steady(),
                           const std::vector<ClockOffset>& before = {});

/// The same for the applications of a scan: all ranks' at rank 0, from the first start on.
/// Collective.
std::vector<scan::Bar> gather_bars(const Communicator& communicator, std::vector<scan::Bar> own,
                                   Seconds origin, const HostClock& clock = HostClock::steady());

} // namespace sextant::operation
