// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/scan/operator_times.hpp"
#include "sextant/scan/strategies.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::scan {

/// A rule for the boundaries between threads. It determines whether boundaries move with the
/// measured cost of the work, and to which side a thread extends its segment.
enum class Boundaries : std::uint8_t {
    fixed,          ///< boundaries do not move: each thread reduces its block
    moving,         ///< extend towards the neighbour that needs longer for the values in between
    towards_slower, ///< the published rule: extend towards the neighbour that takes longer per
                    ///< application
    /// For a single rank with all values: no boundaries; idle threads reduce values ahead of the
    /// results (look_ahead.hpp). Otherwise the same as `moving`.
    look_ahead
};

/// The next value of a thread, and the side of the thread's segment that the value joins.
struct Extension {
    Elements value = 0;
    bool before = false;

    bool operator==(const Extension&) const = default;
};

/// Decides which thread reduces which value next, among the threads that share a rank's values. A
/// state machine without threads or clock: a run drives it with threads and a real clock, a
/// rehearsal with a simulated one.
///
/// Every thread reduces one segment, whose boundaries move: the first thread works from left to
/// right, the last from right to left, the others from the middle of their block outwards. After
/// each application a thread extends its segment to one side, as long as either side has unclaimed
/// values. `Boundaries` is the rule for the side; in a tie, the thread extends to the side on which
/// more values of its block remain. The elapsed time of an application in progress counts too, so
/// that a long application is noticed before it ends. Values are claimed only at the edge of a
/// segment, so segments stay contiguous. A reduction may associate its values in any order, so the
/// results of an operator that is exactly associative do not depend on stealing.
///
/// With `Boundaries::fixed`, every thread works from left to right, so that values are associated
/// in the same order in every run.
///
/// Not synchronised: callers with several threads hold a lock.
/// Source    Copik, Grosser, Hoefler, Bientinesi, Berkels, IEEE TPDS 33(3), 2022, arXiv:2010.12478
class Stealing {
  public:
    /// Requires  at least one thread; values >= threads.
    Stealing(Elements values, int threads, Boundaries boundaries);

    /// The first value of a thread's segment; no application is needed for it.
    Elements start(int thread) const { return at(thread).start; }

    /// The next value for a thread to combine, starting at `now`; nullopt if its segment is final.
    /// Ends the thread's previous application.
    std::optional<Extension> next(int thread, Seconds now);

    /// The segment that a thread has claimed; final once `next` returns nullopt.
    Interval segment(int thread) const { return at(thread).claimed; }

    /// The number of values claimed outside a thread's initial block.
    Elements stolen() const { return stolen_; }

  private:
    struct Thread {
        Interval share, claimed;
        Elements start = 0;
        Elements applied = 0; ///< number of finished applications
        Seconds busy = 0;     ///< measured time of the finished applications
        Seconds began = 0;    ///< start of the current application
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
/// across the ranks (`totals`), and every thread scans its segment starting from the prefix before
/// it (`last_phase`). A run with threads and a rehearsal with a simulated clock do the same
/// applications.
///
/// Thread 0 of the first rank starts at the first value of the series, so its intermediate sums are
/// final results and it has no last phase. A single rank with one thread therefore applies the
/// operator once less often than it has values.

/// The circuit that scans totals across threads: it has the fewest dependent applications.
inline constexpr std::string_view circuit_among_threads = "kogge-stone";

/// The number of threads that a rank with `values` values uses: at most one per value.
int employed(Elements values, int threads);

/// The scan of the ranks' totals as one rank's program. Its input is the rank's total. Its result
/// is the prefix before the rank's values followed by the prefix through them, each only if it
/// exists and is needed.
struct Totals {
    Program program;
    bool before = false, through = false; ///< prefixes that the result contains
};

/// Builds the program that scans the totals; empty on a rank without values. Throws InvalidTask.
Totals totals(const Series& series, const GlobalScan& global, int rank);

/// The work of a thread once the boundaries are fixed and the prefix before the rank is known.
/// Values are numbered within the rank.
struct LastPhase {
    /// True if the thread first combines the prefix before the rank with the sum of the rank's
    /// earlier threads, which gives the result of the last value before its segment.
    bool joins = false;
    Interval applied; ///< values that the thread then combines one after another
};

/// Input     the thread's segment; `is_last`: true for the rank's last segment; `known`: the result
///           of `totals` on this rank; `is_first_rank`: true if no earlier rank has values.
LastPhase last_phase(const Interval& segment, int thread, bool is_last, const Totals& known,
                     bool is_first_rank);

struct NamedBoundaries {
    std::string_view name, summary;
    Boundaries boundaries;
};

std::span<const NamedBoundaries> all_boundaries();
std::string_view name(Boundaries boundaries);
/// Finds a rule for boundaries by name. Throws InvalidTask, which suggests similar names, if the
/// name is unknown.
Boundaries find_boundaries(std::string_view name);

/// A configuration for the scan of a series: a strategy with a global scan, and the threads per
/// rank.
struct Configuration {
    const Strategy& strategy;
    GlobalScan global;
    int threads = 1;
    Boundaries boundaries = Boundaries::moving; ///< used with more than one thread
};

/// Throws InvalidTask unless there is at least one thread, or if there is more than one without
/// reduce-then-scan. Only the reductions of reduce-then-scan may associate values in any order.
void check(const Configuration& configuration);

/// A short text: "reduce-then-scan over ladner-fischer, k = 1, 8 threads, boundaries moving".
std::string to_text(const Configuration& configuration);

} // namespace sextant::scan
