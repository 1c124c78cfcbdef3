// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/strategies.hpp"
#include "sextant/schedule/program.hpp"
#include "sextant/schedule/prove.hpp"

namespace sextant::scan {

/// The number of values on each rank after a shift by one position: the last value of the series is
/// dropped, and each rank with values receives one for every value that it has, except the first of
/// these ranks, which receives one less.
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
