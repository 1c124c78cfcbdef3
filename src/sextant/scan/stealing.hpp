// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/scan/operator_times.hpp"
#include "sextant/scan/strategies.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sextant::scan {

/// Whether the boundaries between threads move with what their work turns out to cost, and by which
/// rule a thread that may extend to either side decides.
enum class Boundaries : std::uint8_t {
    fixed,         ///< each thread reduces its share
    moving,        ///< to where the neighbour would need longer for what is left between them
    towards_slower ///< the published rule: towards the neighbour that takes longer an application
};

/// A value that a thread takes next, and which side of what it has the value lies on.
struct Extension {
    Elements value = 0;
    bool before = false;

    bool operator==(const Extension&) const = default;
};

/// Who reduces which value next, among the threads that share a rank's values: a state machine that
/// knows neither threads nor clock. A run drives it with threads and a real clock, a rehearsal with
/// a simulated one.
///
/// Every thread reduces one segment, whose boundaries move: the first works from left to right, the
/// last from right to left, the others from the middle of their share outwards. After each
/// application a thread extends to one side, while unclaimed values are left at either. Which side
/// is a rule of `Boundaries`; between equals, to where more of its share is left. An application
/// under way counts for what it has taken so far, so that one that lasts is noticed before it ends.
/// Since values are only ever claimed at the edge of a segment, segments stay whole, and a
/// reduction may be bracketed freely: results do not depend on who stole what.
///
/// Not synchronised: who drives it with threads holds a lock.
/// Source    Copik, Grosser, Hoefler, Bientinesi, Berkels, IEEE TPDS 33(3), 2022,
///           arXiv:2010.12478
class Stealing {
  public:
    /// Requires  one thread or more; values >= threads.
    Stealing(Elements values, int threads, Boundaries boundaries);

    /// The value that a thread begins with, which takes no application.
    Elements start(int thread) const { return at(thread).start; }

    /// What a thread applies the operator to from `now` on; nothing when its segment is final. What
    /// it claimed before ends now.
    std::optional<Extension> next(int thread, Seconds now);

    /// What a thread has claimed; final once it gets nothing more.
    Interval segment(int thread) const { return at(thread).claimed; }

    /// Values that were claimed outside the share they began in.
    Elements stolen() const { return stolen_; }

  private:
    struct Thread {
        Interval share, claimed;
        Elements start = 0;
        Elements applied = 0; ///< how often it has applied the operator
        Seconds busy = 0;     ///< what that took
        Seconds began = 0;    ///< when it began what it is at
        bool working = false;
    };

    const Thread& at(int thread) const { return threads_[static_cast<std::size_t>(thread)]; }
    Interval left_before(int thread) const;
    Interval left_after(int thread) const;
    Seconds pace(int thread, Seconds now) const;
    Seconds need_before(int thread, Seconds now) const;
    Seconds need_after(int thread, Seconds now) const;
    Seconds need(int neighbour, const Interval& left, const Interval& elsewhere, Seconds now) const;
    bool prefers_before(int thread, Seconds now) const;

    std::vector<Thread> threads_;
    const Boundaries boundaries_;
    Elements stolen_ = 0;
};

/// Ranks that scan their values on several threads, by reduce-then-scan: every thread reduces a
/// segment (`Stealing`), the segments' totals are scanned across the threads, the ranks' totals
/// across the ranks (`totals`), and every thread scans its segment from what lies before it on
/// (`last_phase`). Who drives these with threads and who drives them by a simulated clock do the
/// same applications.
///
/// Thread 0 of the first rank has its prefixes in hand: it reduces from the very first value on,
/// so what it has after each application is a result, and it has no last phase. One rank with one
/// thread thus applies the operator once less than it has values.

/// The circuit among threads: the fewest dependent applications.
inline constexpr std::string_view circuit_among_threads = "kogge-stone";

/// How many threads a rank with so many values employs: none without a value.
int employed(Elements values, int threads);

/// The scan of the ranks' totals, as one rank's program: its input is its total, its result what
/// lies before its values, then what reaches through them, as far as it has and needs these.
struct Totals {
    Program program;
    bool before = false, through = false; ///< what the result holds
};

/// A rank without values has nothing to do. Throws InvalidTask.
Totals totals(const Series& series, const GlobalScan& global, int rank);

/// What a thread does when the boundaries stand and what lies before the rank is known. Values are
/// numbered within the rank.
struct LastPhase {
    /// Whether it begins by putting what lies before the rank before what the threads before it
    /// have: an application, whose result is that of the last value before its segment.
    bool joins = false;
    Interval applied; ///< the values that it then applies the operator to, one after another
};

/// Input     the thread's segment; whether it is the rank's last; what the rank got of the totals;
///           whether no rank before it has values.
LastPhase last_phase(const Interval& segment, int thread, bool is_last, const Totals& known,
                     bool is_first_rank);

} // namespace sextant::scan
