// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/comm/tracing.hpp"
#include "sextant/registration/series/ledger.hpp"
#include "sextant/scan/operator_times.hpp"
#include "sextant/schedule/trace.hpp"

#include <array>
#include <optional>
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

/// An interval in which a rank computed results of one kind, except for pauses too short to show.
struct WorkBar {
    int rank = 0;
    registration::Work work = registration::Work::link;
    std::int64_t results = 0;
    Seconds begin = 0, end = 0;
};

/// Merges bars of the same kind, in order, whose gaps are no longer than `pause`.
std::vector<WorkBar> put_together(std::vector<WorkBar> bars, Seconds pause);

/// Records when this rank computed results. Memory is bounded: neighbouring bars are merged if
/// there are many.
class WorkLog {
  public:
    explicit WorkLog(int rank);

    /// Adds a result, with times on the steady clock of the host.
    void add(registration::Work work, Seconds begin, Seconds end);

    /// The recorded intervals. Their times are relative to `origin`, a time on the host's clock.
    const std::vector<WorkBar>& bars() const { return bars_; }
    Seconds origin() const { return origin_; }
    /// Time spent on each kind of work, without pauses.
    const std::array<Seconds, registration::kinds_of_work>& busy() const { return busy_; }

  private:
    const int rank_;
    const Seconds origin_;
    Seconds pause_ = 0;
    std::vector<WorkBar> bars_;
    std::array<Seconds, registration::kinds_of_work> busy_{};
};

/// The work of all ranks.
struct GatheredWork {
    std::vector<WorkBar> bars;
    std::array<Seconds, registration::kinds_of_work> busy{}; ///< sum over all ranks
    int ranks = 1, clocks = 1;
    std::vector<ClockOffset> aligned; ///< how the clocks were aligned

    /// The fraction of the time of the ranks' threads, between the first and the last work of this
    /// kind, that was not spent on it. `threads` of each rank do such work at a time. Empty if
    /// there was no such work.
    std::optional<double> idle(registration::Work work, int threads = 1) const;
};

/// Gathers the logs of all ranks. On ranks other than 0, the result has no bars. Collective.
GatheredWork gather_work(const Communicator& communicator, const TraceClocks& clocks,
                         const WorkLog& log);

} // namespace sextant::command
