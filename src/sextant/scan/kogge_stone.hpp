// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/program.hpp"

namespace sextant::scan {

/// Kogge-Stone inclusive scan: in round i each rank sends what it has to rank + 2^i and combines
/// what comes from rank − 2^i before it. Every version of the value lies in a slot of its own, so
/// that no fold waits for a send.
///
/// Input     `elements` values a rank.
/// Output    the combination, in rank order, of the values of ranks 0 … rank.
/// Cost      ⌈log2 p⌉ dependent applications; p ⌈log2 p⌉ − 2^⌈log2 p⌉ + 1 in all.
/// Source    Kogge and Stone, IEEE Trans. Comp. C-22(8), 1973, doi:10.1109/TC.1973.5009159
Program kogge_stone(int ranks, Elements elements, int rank);

} // namespace sextant::scan
