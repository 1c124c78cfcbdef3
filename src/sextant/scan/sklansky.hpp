// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/line.hpp"

namespace sextant::scan {

/// Sklansky inclusive scan: ranks lie in blocks of 1, 2, 4, … that have been scanned; in each round
/// the last rank of every even block gives what it has to all of the block after it.
///
/// Input     this rank's value.
/// Output    the combination, in rank order, of the values of ranks 0 … rank.
/// Cost      ⌈log2 p⌉ dependent applications, the fewest; in all one for each bit that is set in
///           the numbers 0 … p − 1. A rank gives its value to up to p / 2 others at once.
/// Source    Sklansky, IRE Trans. Electronic Computers EC-9(2), 1960, doi:10.1109/TEC.1960.5219822
Region sklansky(Line& line, Region value);

} // namespace sextant::scan
