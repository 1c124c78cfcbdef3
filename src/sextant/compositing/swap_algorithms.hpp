// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/composite_task.hpp"

#include <span>
#include <vector>

namespace sextant::compositing {

/// Binary tree: neighbouring runs of 1, 2, 4, ... positions are blended pairwise, whole images at a
/// time, and half of those that still hold one fall idle in each round. The simplest way, to
/// compare others with.
///
/// Input     `layers` images of `task.elements` pixels, one after another.
/// Output    the whole picture at the position of `task.root`, or else at position 0; nothing at
///           the others. In each pair the position receives that the picture ends at, or else the
///           front one.
/// Cost      one message of all pixels from every position but that one, which receives log2(p),
///           rounded up, and blends as many whole images one after another.
/// Source    Ma, Painter, Hansen, Krogh, IEEE CG&A 14(4), 1994, doi:10.1109/38.291532, as the way
///           that binary swap improves on
Program binary_tree(const Task& task, int position);

Piece binary_tree_piece(const Task& task, int position);

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

/// 2-3 swap: binary swap for any number of positions. They are grouped by a tree whose nodes have
/// two or three children and whose leaves all lie at depth log2(p), rounded down; a group of m
/// positions holds m equal parts of what it has blended. To merge its children, a group cuts the
/// picture into as many parts as it has members, each a piece of what its new owner already holds;
/// the owner gathers that piece from the other children and blends it. At p = 2^r this is binary
/// swap.
///
/// Input     `layers` images of `task.elements` pixels, one after another.
/// Output    the piece of two_three_swap_piece: one of p equal parts.
/// Cost      at most 3 messages a position in each of log2(p) rounds; elements (p−1)/p pixels sent
///           by each position, and as many blended on average.
/// Source    Yu, Wang, Ma, SC 2008, doi:10.1109/SC.2008.5219060
Program two_three_swap(const Task& task, int position);

Piece two_three_swap_piece(const Task& task, int position);

} // namespace sextant::compositing
