// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/comm/tracing.hpp"
#include "sextant/scan/operator_times.hpp"
#include "sextant/schedule/trace.hpp"

#include <vector>

namespace sextant::command {

/// All ranks' events together, at rank 0; elsewhere none.
struct GatheredTrace {
    Trace trace;
    int clocks = 1; ///< how many clocks the times were taken on
    /// How these stood to rank 0's; empty where one clock could not be trusted.
    std::vector<ClockOffset> aligned = {};
};

/// The clocks of a run whose events are to be gathered: asked how they stand to one another before
/// it, and again when its events are brought to rank 0. Times go on one clock, offset and drift
/// made up for (clock_offsets); where a clock runs backwards none can be compared, and each counts
/// from the first start on it.
class TraceClocks {
  public:
    /// To be made before the run. Collective.
    explicit TraceClocks(const Communicator& communicator, HostClock clock = HostClock::steady());

    /// All ranks' events, times from the first start on. Collective.
    GatheredTrace gather(const Trace& own) const;
    /// The same of the applications of a scan that started at `origin`: at rank 0, all ranks'.
    /// Collective.
    std::vector<scan::Bar> gather(std::vector<scan::Bar> own, Seconds origin) const;

  private:
    Communicator communicator_;
    HostClock clock_;
    std::vector<ClockOffset> before_;
};

} // namespace sextant::command
