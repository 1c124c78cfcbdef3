// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/operator_times.hpp"
#include "sextant/scan/scan_configuration.hpp"
#include "sextant/scan/stealing.hpp"
#include "sextant/scan/strategies.hpp"
#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/program.hpp"

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace sextant::scan {

/// Plays a schedule of a scan by a simulated clock, as the executor would: a rank does one
/// application at a time, in the order in which they become possible, and takes messages between
/// two of them. Messages and copies take no time: the operator is what costs.
///
/// Built once for a schedule, played as often as liked.
/// Requires  a schedule that `prove` accepts, whose elements are runs of a series.
class Clockwork {
  public:
    explicit Clockwork(Schedule schedule);

    struct Input {
        /// Which values of the series an element of a rank's input holds.
        std::function<Interval(int rank, Elements element)> given;
        std::vector<Seconds> starts; ///< when each rank begins; empty: all at 0
        OperatorTime time;
        /// Called for every application; may be empty.
        std::function<void(int rank, const Application& what, Seconds begin, Seconds end)> note;
    };

    /// When each rank has done its last step.
    std::vector<Seconds> play(const Input& input) const;

    int ranks() const { return static_cast<int>(schedule_.size()); }

  private:
    class Play;

    const Schedule schedule_;
    std::vector<Dependences> dependences_;
    std::vector<std::vector<int>> tags_;
};

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
    /// Input     how many values lie at each rank.
    /// Throws    InvalidTask.
    Rehearsal(const Series& series, const Way& way);

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
    const Series series_;              ///< what each rank scans
    std::vector<Elements> first_;      ///< place in the series, by rank
    std::vector<Totals> totals_;       ///< with threads, by rank
    std::unique_ptr<Clockwork> ranks_; ///< the whole scan; with threads, that of the totals
    std::vector<std::unique_ptr<Clockwork>> threads_; ///< by how many are employed
};

/// When each rank has registered its values with their neighbours, on so many threads, and may
/// begin to scan: one value after another goes to the thread that is free first.
///
/// Input     the time of an application that joins two neighbours, and how many times as long their
///           registration takes.
std::vector<Seconds> neighbours_done(const Series& series, int threads, double factor,
                                     const OperatorTime& time);

} // namespace sextant::scan
