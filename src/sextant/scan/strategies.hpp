// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/catalogue.hpp"
#include "sextant/schedule/builder.hpp"
#include "sextant/schedule/program.hpp"
#include "sextant/schedule/prove.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace sextant::scan {

/// The number of values of a series on each rank, in rank order; any may be 0.
using Series = std::vector<Elements>;

/// Distributes `values` values over ranks as evenly as possible. The first ranks have one value
/// more if necessary.
Series even_blocks(Elements values, int ranks);

/// The claim to prove for a scan of a series: every rank ends with one result per value, which is
/// the value combined with all values before it in the series.
Claim claim(const Series& series);

/// The scan of the ranks' totals between the local stages.
struct GlobalScan {
    const Algorithm& algorithm;
    Tuning tuning;
    /// True if a rank's last result is taken from the global scan, which provides it without
    /// another application.
    bool gives_last = true;
};

/// A rank that has values. Strategies see only these ranks, in rank order.
struct Worker {
    std::span<const Elements> values; ///< number of values of each worker, all positive
    int number = 0;

    int workers() const { return static_cast<int>(values.size()); }
    Elements own() const { return values[static_cast<std::size_t>(number)]; }
};

/// The ranks of a series that have values, in order, and the index of one of them.
struct Workers {
    std::vector<int> ranks;
    std::vector<Elements> values; ///< number of values of each rank
    int number = 0;               ///< index of the requested rank in `ranks`, if it has values
};

Workers workers_of(const Series& series, int rank);

/// Value i of a contiguous region.
Region nth(const Region& values, Elements i);

/// True if a worker's total is part of any rank's result. The total of the last worker may not be.
bool total_matters(const Worker& worker, const GlobalScan& global);

/// Writes one worker's steps of the scan of the workers' totals.
/// Input     this worker's total, which must not be overwritten later; any slot if no result needs
///           the total.
/// Output    the prefixes that this worker needs.
Prefixes scan_totals(ProgramBuilder& builder, const Worker& worker, const GlobalScan& global,
                     const Region& total);

/// Scans a worker's own values: output i is known.before ⊕ input 0 ⊕ … ⊕ input i. Either part of
/// `known` may be empty; `known.through` saves computing the last output.
void scan_values(ProgramBuilder& builder, const Region& input, const Region& output,
                 const Prefixes& known);

/// Reduce, then scan: each worker combines its values into a total, in one fold, which may
/// associate them in any order; the totals are scanned across workers; and each worker scans its
/// values starting from the prefix before them. A single worker only scans.
///
/// Input     this worker's values.
/// Output    one result per value: the value combined with all before it in the series.
/// Cost      with K = N/P values per worker and a global scan of span S_G and W_G applications, 2K
///           − 1 + S_G dependent applications and 2N − P − 1 + W_G in all; 1 and P fewer if the
///           global scan gives the last values. K − 1 fewer if the last total is not needed, as
///           with an exclusive global scan.
/// Source    Dotsenko et al., ICS 2008, doi:10.1145/1375527.1375559
Program reduce_then_scan(const Worker& worker, const GlobalScan& global);

/// Scan, then propagate: each worker scans its own values; the totals are scanned across workers;
/// and each worker combines the prefix before its values with every one of its results. The first
/// worker has no prefix.
///
/// Input     this worker's values.
/// Output    one result per value: the value combined with all before it in the series.
/// Cost      with K = N/P values per worker and a global scan of W_G applications, 2N − P − K + W_G
///           in all; P − 1 fewer if the global scan gives the last values.
/// Source    Eğecioğlu, Koç, Laub, J. Comp. Appl. Math. 27, 1989, doi:10.1016/0377-0427(89)90362-2
Program scan_then_propagate(const Worker& worker, const GlobalScan& global);

/// A strategy that scans a series by means of a scan of totals, as listed in the catalogue.
struct Strategy {
    std::string_view name;
    std::string_view summary;
    std::string_view source;
    /// One worker's program; peers are worker numbers. Throws InvalidTask.
    Program (*program)(const Worker& worker, const GlobalScan& global);
};

std::span<const Strategy> strategies();

/// Finds a strategy by name. Throws InvalidTask, which suggests similar names, if the name is
/// unknown.
const Strategy& find_strategy(std::string_view name);

/// The program of one rank; empty for ranks without values. Throws InvalidTask.
Program program(const Strategy& strategy, const Series& series, const GlobalScan& global, int rank);

/// The number of values on each rank after a shift by one position. The last value of the series is
/// dropped. Each rank with values keeps its number of values, except that the first of these ranks
/// has one less.
Series shifted(const Series& series);

/// The program of one rank that shifts a series by one position, so that an inclusive scan of the
/// result is the exclusive scan of the series: position i receives value i − 1.
///
/// Input     this rank's values.
/// Output    the values of the preceding positions: shifted(series) of them.
/// Cost      one message of one value per rank that has values, to the next such rank; no
///           applications. Ranks without values do nothing.
Program shift(const Series& series, int rank);

/// The claim to prove for a shift: every rank ends with the values that precede its own.
Claim shift_claim(const Series& series);

} // namespace sextant::scan
