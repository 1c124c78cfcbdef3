// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/command/trace_clocks.hpp"
#include "sextant/registration/series/ledger.hpp"
#include "sextant/schedule/trace.hpp"

#include <array>
#include <optional>
#include <vector>

namespace sextant::command {

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
