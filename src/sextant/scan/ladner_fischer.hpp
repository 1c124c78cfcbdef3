// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/line.hpp"

namespace sextant::scan {

/// Ladner-Fischer inclusive scan LF_k. LF_0 scans the first half by LF_1, the rest by LF_0, and
/// gives the last value of the first half to all of the rest. LF_k with k > 0 combines neighbours
/// in pairs, scans the pairs by LF_{k−1} and hands each result on to the next pair's first; an odd
/// rank left over is scanned with the pairs.
///
/// Input     this rank's value; k.
/// Output    the combination, in rank order, of the values of ranks 0 … rank.
/// Requires  k >= 0; otherwise throws InvalidTask.
/// Cost      at most ⌈log2 p⌉ + k dependent applications. In all, at p = 2^m and k <= m,
///           2 (1 + 2^−k) 2^m − Fibonacci(5 + m − k) − k + 1; with k = 0 at most 4p at any p.
/// Source    Ladner and Fischer, J. ACM 27(4), 1980, doi:10.1145/322217.322232
Region ladner_fischer(Line& line, const Region& value, int k);

} // namespace sextant::scan
