// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/comm/tracing.hpp"
#include "sextant/scan/operator_times.hpp"
#include "sextant/schedule/trace.hpp"

#include <vector>

namespace sextant::command {

/// The events of all ranks, on rank 0; empty elsewhere.
struct GatheredTrace {
    Trace trace;
    int clocks = 1; ///< number of clocks that measured the times
    /// Offsets of the clocks from rank 0's clock; empty if a clock could not be trusted.
    std::vector<ClockOffset> aligned = {};
};

/// Aligns the clocks of ranks for a traced run. Offsets are measured before the run and again when
/// its events are gathered, and times are corrected for offset and drift (clock_offsets). If a
/// clock runs backwards, clocks cannot be compared: times are then relative to the first start of a
/// rank with the same clock.
class TraceClocks {
  public:
    /// Must be created before the run. Collective.
    explicit TraceClocks(const Communicator& communicator, HostClock clock = HostClock::steady());

    /// The events of all ranks, with times since the first start. Collective.
    GatheredTrace gather(const Trace& own) const;
    /// The operator applications of all ranks in a scan that started at `origin`, with times since
    /// the first start. Collective.
    std::vector<scan::Bar> gather(std::vector<scan::Bar> own, Seconds origin) const;

  private:
    Communicator communicator_;
    HostClock clock_;
    std::vector<ClockOffset> before_;
};

} // namespace sextant::command
