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

/// The events of all ranks, on rank 0; empty on other ranks.
struct GatheredTrace {
    Trace trace;
    int clocks = 1; ///< number of clocks that measured the times
    /// Offsets of the clocks from rank 0's clock; empty if a clock runs backwards.
    std::vector<ClockOffset> aligned = {};
};

/// Aligns the clocks of ranks for a traced run. Offsets are measured before the run and again when
/// its events are gathered, and times are corrected for offset and drift (clock_offsets). If a
/// clock runs backwards, clocks cannot be compared; times are then relative to the first start of a
/// rank with the same clock.
class TraceClocks {
  public:
    /// Measures the offsets. Must be called before the run. Collective.
    explicit TraceClocks(const Communicator& communicator, HostClock clock = HostClock::steady());

    /// Gathers the events of all ranks, with times since the first start. Collective.
    GatheredTrace gather(const Trace& own) const;
    /// Gathers the operator applications of all ranks in a scan that started at `origin`, with
    /// times since the first start. Collective.
    std::vector<scan::Bar> gather(std::vector<scan::Bar> own, Seconds origin) const;

  private:
    Communicator communicator_;
    HostClock clock_;
    std::vector<ClockOffset> before_;
};

/// An interval in which a rank computed results of one kind. Pauses that are too short to show are
/// included.
struct WorkBar {
    int rank = 0;
    registration::Work work = registration::Work::link;
    std::int64_t results = 0;
    Seconds begin = 0, end = 0;
};

/// Merges bars of the same kind, in order, if the gap between them is at most `pause`.
std::vector<WorkBar> put_together(std::vector<WorkBar> bars, Seconds pause);

/// Records when this rank computed results. Memory is bounded: if there are many bars, neighbouring
/// ones are merged.
class WorkLog {
  public:
    explicit WorkLog(int rank);

    /// Adds a result; times are on the steady clock of the host.
    void add(registration::Work work, Seconds begin, Seconds end);

    /// Returns the recorded intervals, with times relative to origin(), a time on the host's clock.
    const std::vector<WorkBar>& bars() const { return bars_; }
    Seconds origin() const { return origin_; }
    /// Returns the time spent on each kind of work, without pauses.
    const std::array<Seconds, registration::kinds_of_work>& busy() const { return busy_; }

  private:
    const int rank_;
    const Seconds origin_;
    Seconds pause_ = 0;
    std::vector<WorkBar> bars_;
    std::array<Seconds, registration::kinds_of_work> busy_{};
};

/// The work of all ranks, on rank 0.
struct GatheredWork {
    std::vector<WorkBar> bars;
    std::array<Seconds, registration::kinds_of_work> busy{}; ///< sum over all ranks
    int ranks = 1, clocks = 1;
    std::vector<ClockOffset> aligned; ///< how the clocks were aligned

    /// Returns the idle fraction of the ranks' threads between the start of the first and the end
    /// of the last work of this kind. `threads`: number of threads per rank that do such work
    /// concurrently. Empty if there was no such work.
    std::optional<double> idle(registration::Work work, int threads = 1) const;
};

/// Gathers the logs of all ranks. On ranks other than 0, the result has no bars. Collective.
GatheredWork gather_work(const Communicator& communicator, const TraceClocks& clocks,
                         const WorkLog& log);

} // namespace sextant::command
