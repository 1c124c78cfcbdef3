// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/program.hpp"

namespace sextant::collective {

/// Binomial scatter from rank 0: a rank that holds the parts of ranks [r, r + m) gives the upper
/// half away, then half of what is left, until it holds its own.
///
/// Input     at rank 0 the whole of `elements`; elsewhere nothing.
/// Output    part `rank` of `ranks`.
/// Cost      ⌈log2 p⌉ rounds; rank 0 sends ⌈log2 p⌉ messages and moves elements (p − 1) / p.
/// Source    Chan, Heimlich, Purkayastha, van de Geijn, CCPE 19, 2007, doi:10.1002/cpe.1206
Program binomial_scatter(int ranks, Elements elements, int rank);

} // namespace sextant::collective
