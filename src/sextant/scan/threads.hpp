// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/application.hpp"
#include "sextant/scan/series.hpp"
#include "sextant/scan/stealing.hpp"

#include <string_view>

namespace sextant::scan {

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
