// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/application.hpp"
#include "sextant/scan/clockwork.hpp"
#include "sextant/scan/threads.hpp"
#include "sextant/scan/way.hpp"

#include <memory>
#include <span>
#include <vector>

namespace sextant::scan {

/// What happened when a scan was played by a simulated clock.
struct Performance {
    Seconds makespan = 0;
    Elements stolen = 0;
    std::vector<Bar> bars; ///< where asked for
};

/// A scan of a series played by a simulated clock: the same schedules, stealing and last phases as
/// in a run, with operator times that are given, and nothing else that takes time.
///
/// Built once for a series and a way, played as often as liked, also by several threads at once.
/// Deterministic.
class Rehearsal {
  public:
    /// Input     how many values lie at each rank; where shares go by time, what each value of
    ///           the series is expected to take.
    /// Throws    InvalidTask.
    Rehearsal(const Series& series, const Way& way, std::span<const Seconds> expected = {});

    /// Input     the time of each application; when each rank begins (empty: at 0).
    Performance play(const OperatorTime& time, std::span<const Seconds> starts = {},
                     bool with_bars = false) const;

    /// The makespan that perfect balance within each rank would have: what its threads do in each
    /// of the two local phases is shared out evenly, whatever the pieces. With one thread a rank
    /// there is nothing to balance.
    Seconds balanced(const OperatorTime& time, std::span<const Seconds> starts = {}) const;

  private:
    enum class Balance { as_it_is, perfect };
    class Stage;

    void plan_threads(int threads);

    const Way way_;
    const Series series_;                 ///< what each rank scans
    std::vector<Elements> first_;         ///< place in the series, by rank
    std::vector<Totals> totals_;          ///< with threads, by rank
    std::vector<ExpectedTimes> expected_; ///< with threads, by rank
    std::unique_ptr<Clockwork> ranks_;    ///< the whole scan; with threads, that of the totals
    std::vector<std::unique_ptr<Clockwork>> threads_; ///< by how many are employed
};

} // namespace sextant::scan
