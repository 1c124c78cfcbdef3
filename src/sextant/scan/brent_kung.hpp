// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/line.hpp"

namespace sextant::scan {

/// Brent-Kung inclusive scan: up a binary tree, whose inner nodes then hold the combinations of
/// their leaves, and down again, where each right child hands what it knows to the leaves between.
///
/// Input     this rank's value.
/// Output    the combination, in rank order, of the values of ranks 0 … rank.
/// Cost      with n = rank + 1, up to ⌊log2 n⌋ + popcount n − 1 dependent applications, so
///           2 log2 p − 2 at powers of two from 4 on; 2p − 1 − ⌊log2 p⌋ − popcount p in all.
/// Source    Brent and Kung, IEEE Trans. Comp. C-31(3), 1982, doi:10.1109/TC.1982.1675982
Region brent_kung(Line& line, Region value);

} // namespace sextant::scan
