// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/operator_times.hpp"
#include "sextant/scan/stealing.hpp"
#include "sextant/scan/strategies.hpp"
#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/program.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace sextant::scan {

/// Simulates a scan schedule as the executor would run it: a rank does one application at a time,
/// in the order in which the applications become ready, and receives messages in between. Messages
/// and copies take no time; only the operator does.
///
/// The simulator is built once for a schedule and can simulate it any number of times.
/// Requires  a schedule that `prove` accepts, whose elements are intervals of a series.
class RehearsalSimulator {
  public:
    explicit RehearsalSimulator(Schedule schedule);

    struct Input {
        /// Returns the interval of the series that an element of a rank's input represents.
        std::function<Interval(int rank, Elements element)> given;
        std::vector<Seconds> starts; ///< start time of each rank; all start at 0 if this is empty
        OperatorTime time;
        /// Called for every application; may be empty.
        std::function<void(int rank, const Application& what, Seconds begin, Seconds end)> note;
    };

    /// The time at which each rank finishes its last step.
    std::vector<Seconds> run(const Input& input) const;

    int ranks() const { return static_cast<int>(schedule_.size()); }

  private:
    class Play;

    const Schedule schedule_;
    std::vector<Dependences> dependences_;
    std::vector<std::vector<int>> tags_;
};

/// The result of simulating a scan.
struct Performance {
    Seconds makespan = 0;
    Elements stolen = 0;
    std::vector<Bar> bars; ///< empty unless requested
};

/// Simulates a scan of a series: the same schedules, stealing and last phases as in a run, with
/// given operator times. Nothing but the operator takes time.
///
/// Built once for a series and a configuration; can be simulated any number of times, also by
/// several threads at once. Deterministic.
class Rehearsal {
  public:
    /// Input     the number of values on each rank.
    /// Throws    InvalidTask.
    Rehearsal(const Series& series, const Configuration& configuration);

    /// Input     the time of each application; the start time of each rank (empty: all at 0).
    Performance run(const OperatorTime& time, std::span<const Seconds> starts = {},
                    bool with_bars = false) const;

    /// The makespan with perfect balance within each rank: the work in each of the two local phases
    /// is divided evenly among the threads, as if applications could be split. With one thread per
    /// rank there is nothing to balance.
    Seconds balanced(const OperatorTime& time, std::span<const Seconds> starts = {}) const;

  private:
    enum class Balance { as_it_is, perfect };
    class Stage;

    void plan_threads(int threads);
    /// The only rank with values, if its threads use look-ahead.
    std::optional<int> looks_ahead() const;

    const Configuration configuration_;
    const Series series_;         ///< values that each rank scans
    std::vector<Elements> first_; ///< by rank: index of its first value in the series
    std::vector<Totals> totals_;  ///< by rank; used with several threads
    std::unique_ptr<RehearsalSimulator>
        ranks_; ///< the complete scan; with threads, the scan of the totals
    std::vector<std::unique_ptr<RehearsalSimulator>> threads_; ///< by number of threads employed
};

/// The time at which each rank has registered all its values with their predecessors, on `threads`
/// threads, and may begin to scan. Each registration is assigned to the thread that is idle first.
///
/// Input     the time of an application that joins two neighbours; `factor`, the time of a
///           registration in units of that time.
std::vector<Seconds> neighbours_done(const Series& series, int threads, double factor,
                                     const OperatorTime& time);

} // namespace sextant::scan
