// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/comm/hosts.hpp"
#include "sextant/scan/application.hpp"
#include "sextant/schedule/trace.hpp"

#include <cstdint>
#include <vector>

namespace sextant::operation {

/// All ranks' events together, at rank 0; elsewhere none.
struct GatheredTrace {
    Trace trace;
    int clocks = 1; ///< how many clocks the times were taken on
};

/// Brings the events of a run to rank 0. Ranks that share a clock keep their distances in time;
/// clocks of different hosts cannot be compared, so each counts from the first start on it.
/// Collective.
GatheredTrace gather_trace(const Communicator& communicator, const Trace& own,
                           std::uint64_t clock = host_identity());

/// The same for the applications of a scan: all ranks' at rank 0, from the first start on.
/// Collective.
std::vector<scan::Bar> gather_bars(const Communicator& communicator, std::vector<scan::Bar> own,
                                   Seconds origin, std::uint64_t clock = host_identity());

} // namespace sextant::operation
