// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/line.hpp"
#include "sextant/scan/task.hpp"

namespace sextant::scan {

/// Blelloch exclusive scan: up a binary tree, where each node combines what its children hold, and
/// down again, where each hands its left child what lies before both, and its right child that
/// combined with the left one. Neither the identity, which lies before everything, nor what nobody
/// wants is ever combined.
///
/// Input     this rank's value; whether the last rank is to know the total.
/// Output    the combination, in rank order, of the values of ranks 0 … rank − 1; at the last rank
///           also the total, if asked for.
/// Cost      as Brent-Kung on p − 1 ranks, so 2 (p − 1) − ⌈log2 p⌉ − popcount(p − 1) applications.
///           The total is popcount(p − 1) more, and lies behind ⌈log2 p⌉ dependent ones: one alone
///           at the very end would make the longest chain longer.
/// Source    Blelloch, IEEE Trans. Comp. 38(11), 1989, doi:10.1109/12.42122
Prefixes blelloch(Line& line, const Region& value, bool total);

} // namespace sextant::scan
