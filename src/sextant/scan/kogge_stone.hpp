// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/line.hpp"

namespace sextant::scan {

/// Kogge-Stone inclusive scan: in round i each rank gives what it has to rank + 2^i and combines
/// what comes from rank − 2^i before it. Hillis and Steele's, and the dissemination scan.
///
/// Input     this rank's value.
/// Output    the combination, in rank order, of the values of ranks 0 … rank.
/// Cost      ⌈log2 p⌉ dependent applications, the fewest; p ⌈log2 p⌉ − 2^⌈log2 p⌉ + 1 in all.
/// Source    Kogge and Stone, IEEE Trans. Comp. C-22(8), 1973, doi:10.1109/TC.1973.5009159
Region kogge_stone(Line& line, Region value);

} // namespace sextant::scan
