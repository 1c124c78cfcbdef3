// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/scan/operator_times.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace sextant::scan {

/// Schedules the scan of a series on the threads of one rank during the run, without a barrier
/// between phases. A state machine without threads or clock, like `Stealing`.
///
/// One thread leads: it computes results from left to right. The other threads look ahead: each
/// reduces a segment further to the right. When the leader arrives at a segment, its result and the
/// segment's total are joined, which gives the result at the segment's end. The thread that looked
/// ahead then leads from there, and the previous leader fills in the results within the segment. An
/// idle thread first fills in results, and otherwise looks further ahead. A slow application
/// therefore delays only the results that need it, and the other threads take over the remaining
/// work.
///
/// With n values and equal times, p threads take about 2 n / (p + 1) applications one after
/// another, which is the least possible. Reduce-then-scan in equal blocks takes 2 n / p, because a
/// block is either reduced or scanned, and on two threads gains nothing over one thread.
///
/// The order of association depends on the times. Not synchronised: callers with several threads
/// hold a lock.
/// Source    the bound: Snir, J. Algorithms 7(2), 1986, doi:10.1016/0196-6774(86)90003-9
class LookAhead {
  public:
    /// One application of the operator. Values are numbered from 0.
    struct Task {
        enum class Kind : std::uint8_t {
            prefix, ///< result of `segment.last` = result before it ⊕ the value
            extend, ///< total of `segment` ⊕ value `segment.last`
            join    ///< result of `segment.last − 1` = result before the segment ⊕ its total
        };
        Kind kind = Kind::prefix;
        Interval segment;

        /// Returns the application for a series whose first value has the index `first`.
        Application in_series(Elements first) const;
    };

    /// Requires  at least one thread; values >= 1. The result of value 0 is value 0 itself.
    LookAhead(Elements values, int threads);

    /// Ends the thread's previous task and returns its next task, or nullopt if there is none now.
    std::optional<Task> next(int thread);

    /// True if no thread will get another task. Until then, a thread without a task waits until
    /// another thread has called `next`.
    bool finished() const;

    /// The number of results computed by a different thread than if the values were divided into
    /// equal blocks.
    Elements stolen() const { return stolen_; }

  private:
    struct Segment {
        Elements first = 0, last = 0; ///< the values in the segment's total
        bool attended = true;         ///< a thread extends or will join the segment
        bool extending = false;       ///< its value `last` is being combined
        bool reached = false;         ///< the result before the segment is known
        Elements filled = 0;          ///< results before this value are computed or in progress
        bool filling = false;         ///< a thread fills in its results
    };
    enum class Role : std::uint8_t { idle, leads, looks_ahead, fills, joins };
    struct Thread {
        Role role = Role::idle;
        std::size_t segment =
            0; ///< index of the thread's segment, unless the thread is idle or leads
    };

    std::optional<Task> lead(int thread);
    std::optional<Task> look_ahead(int thread);
    std::optional<Task> fill(int thread);
    bool find_work(int thread);
    Elements limit_of(std::size_t segment) const;
    Task result(int thread, Task::Kind kind, const Interval& segment);

    const Elements values_;
    std::vector<Thread> threads_;
    std::vector<Segment> segments_; ///< from left to right; the first `joined_` are joined
    std::size_t joined_ = 0;
    Elements front_ = 1; ///< the next value for the leader
    Elements stolen_ = 0;
};

} // namespace sextant::scan
