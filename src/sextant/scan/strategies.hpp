// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/catalogue.hpp"
#include "sextant/schedule/builder.hpp"
#include "sextant/schedule/prove.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace sextant::scan {

/// A series of values that lie at ranks, in rank order: how many at each, any number or none.
using Series = std::vector<Elements>;

/// So many values, dealt to ranks as evenly as can be: the first ones have one more.
Series dealt(Elements values, int ranks);

/// What `prove` is to show of a scan of a series: every rank ends up with as many values as it had,
/// each combined with all before it in the series.
Claim claim(const Series& series);

/// How the totals of ranks are scanned between what each does alone.
struct GlobalScan {
    const Algorithm& algorithm;
    Tuning tuning;
    /// Whether a rank's last value is taken from this scan, where it is known without one more
    /// application, or made by one.
    bool gives_last = true;
};

/// The ranks that have values, in order, with how many. A strategy is for one of them.
struct Worker {
    std::span<const Elements> values; ///< of each worker, all more than 0
    int number = 0;

    int workers() const { return static_cast<int>(values.size()); }
    Elements own() const { return values[static_cast<std::size_t>(number)]; }
};

/// The ranks of a series that have values, in order, and which of them one rank is.
struct Workers {
    std::vector<int> ranks;
    std::vector<Elements> values; ///< of each
    int number = 0;               ///< of the rank asked for, if it has values
};

Workers workers_of(const Series& series, int rank);

/// Value i of a contiguous region.
Region nth(const Region& values, Elements i);

/// Whether a worker's total is in anybody's result: that of the last may not be.
bool total_matters(const Worker& worker, const GlobalScan& global);

/// The scan of the workers' totals, as far as this one needs it.
/// Input     its total, which nothing overwrites later; any slot where that does not matter.
Prefixes scan_totals(ProgramBuilder& builder, const Worker& worker, const GlobalScan& global,
                     const Region& total);

/// A worker's own scan: output i is what lies before it all, ⊕ input 0 ⊕ … ⊕ input i. Of `known`
/// either part may be empty; what reaches through the last value saves making it.
void scan_values(ProgramBuilder& builder, const Region& input, const Region& output,
                 const Prefixes& known);

/// Reduce, then scan: each worker combines its own values into a total, in one fold that may be
/// bracketed freely, the totals are scanned across workers, and each scans its values from what
/// lies before them on. A worker that is alone only scans.
///
/// Input     this worker's values.
/// Output    as many, each combined with all before it in the series.
/// Cost      with K = N/P values a worker and a global scan of span S_G and W_G applications,
///           2K − 1 + S_G dependent applications and 2N − P − 1 + W_G in all; 1 and P fewer where
///           the global scan gives the last values. K − 1 fewer where the last total is in nobody's
///           result, since it is not made: where the global scan is exclusive.
/// Source    Dotsenko et al., ICS 2008, doi:10.1145/1375527.1375559
Program reduce_then_scan(const Worker& worker, const GlobalScan& global);

/// Scan, then propagate: each worker scans its own values, the totals are scanned across workers,
/// and each puts what lies before its values before every one of them. The first has nothing to
/// put.
///
/// Input     this worker's values.
/// Output    as many, each combined with all before it in the series.
/// Cost      with K = N/P values a worker and a global scan of W_G applications, 2N − P − K + W_G
///           in all; P − 1 fewer where the global scan gives the last values.
/// Source    Eğecioğlu, Koç, Laub, J. Comp. Appl. Math. 27, 1989, doi:10.1016/0377-0427(89)90362-2
Program scan_then_propagate(const Worker& worker, const GlobalScan& global);

/// A way to scan a series by a scan of the ranks' totals: one file of code and one row here.
struct Strategy {
    std::string_view name;
    std::string_view summary;
    std::string_view source;
    /// One worker's program, in workers. Throws InvalidTask.
    Program (*program)(const Worker& worker, const GlobalScan& global);
};

std::span<const Strategy> strategies();

/// By name. Throws InvalidTask with near names.
const Strategy& find_strategy(std::string_view name);

/// The program of one rank; ranks without values have nothing to do. Throws InvalidTask.
Program program(const Strategy& strategy, const Series& series, const GlobalScan& global, int rank);

} // namespace sextant::scan
