// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/line.hpp"

namespace sextant::scan {

/// Han-Carlson inclusive scan: Kogge-Stone among the odd ranks, each of which first combines its
/// left neighbour's value with its own and at last hands what it knows to its right neighbour. Half
/// the applications for one more round.
///
/// Input     this rank's value.
/// Output    the combination, in rank order, of the values of ranks 0 … rank.
/// Cost      for p >= 3, max(1 + ⌈log2 ⌊p/2⌋⌉, 2 + ⌈log2 ⌊(p−1)/2⌋⌉) dependent applications;
///           p − 1 and those of Kogge-Stone on ⌊p/2⌋ ranks in all.
/// Source    Han and Carlson, IEEE Symp. Computer Arithmetic, 1987, doi:10.1109/ARITH.1987.6158699
Region han_carlson(Line& line, Region value);

} // namespace sextant::scan
