// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/task.hpp"

#include <span>
#include <vector>

namespace sextant::compositing {

/// Radix-k compositing: in round i, each group of k_i positions cuts its common piece into k_i
/// parts, and every member gathers and blends one. {2, 2, ...} is binary swap, {positions} is
/// direct send. Positions that hold several layers blend the parts they give away first.
///
/// Input     `layers` images of `task.elements` pixels, one after another.
/// Output    the piece of radix_k_piece; over all positions they cover the picture once.
/// Requires  k_1 * ... * k_r == positions, each k_i >= 2; otherwise throws InvalidTask.
/// Cost      round i: k_i − 1 messages a position, each of elements / (k_1 * ... * k_i) pixels.
/// Source    Peterka, Goodell, Ross, Shen, Thakur, SC 2009, doi:10.1145/1654059.1654064
Program radix_k(const Task& task, std::span<const int> radices, int position);

Piece radix_k_piece(const Task& task, std::span<const int> radices, int position);

/// Every ordered factorisation of `ranks` into factors of 2 and more, most rounds last: {p} first.
/// One empty vector for 1.
/// Cost      their number: 8192 for 16384.
std::vector<std::vector<int>> factorisations(int ranks);

/// Throws InvalidTask, naming the product and what it should be.
void check_radices(std::span<const int> radices, int positions);

} // namespace sextant::compositing
