// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/forms.hpp"
#include "sextant/schedule/builder.hpp"
#include "sextant/schedule/prove.hpp"

#include <span>
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

} // namespace sextant::scan
