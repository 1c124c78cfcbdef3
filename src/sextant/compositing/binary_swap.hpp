// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/task.hpp"

#include <vector>

namespace sextant::compositing {

/// The radices of binary swap: log2(positions) twos.
///
/// Requires  positions to be a power of two; otherwise throws InvalidTask, naming what takes any
///           number.
/// Source    Ma, Painter, Hansen, Krogh, IEEE CG&A 14(4), 1994, doi:10.1109/38.291532
std::vector<int> binary_swap_radices(int positions);

/// Binary swap: in each round, pairs at distance 1, 2, 4, ... halve their common piece and
/// exchange halves. Radix-k with every radix 2.
///
/// Input, Output   as Radix-k.
/// Cost      log2(p) messages a position, of elements / 2, / 4, ... pixels.
Program binary_swap(const Task& task, int position);

} // namespace sextant::compositing
