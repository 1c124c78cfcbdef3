// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/composite_task.hpp"

#include <span>
#include <vector>

namespace sextant::compositing {

/// Binary tree: neighbouring runs of 1, 2, 4, ... positions are blended pairwise, whole images at a
/// time, and in each round half of the remaining positions become idle. A simple baseline.
///
/// Input     `layers` images of `task.elements` pixels, one after another.
/// Output    the composited image at the final position (that of `task.root`, or 0 if there is no
///           root); nothing elsewhere. In each pair, the final position receives if it is one of
///           the two, otherwise the front one.
/// Cost      one message of all pixels from every other position. The final position receives
///           log2(p) messages, rounded up, and blends that many whole images one after another.
/// Source    Ma, Painter, Hansen, Krogh, IEEE CG&A 14(4), 1994, doi:10.1109/38.291532, as the
///           method that binary swap improves on
Program binary_tree(const Task& task, int position);

Piece binary_tree_piece(const Task& task, int position);

/// Radix-k compositing: in round i, each group of k_i positions cuts its common piece into k_i
/// parts, and every member gathers and blends one. {2, 2, ...} is binary swap, {positions} is
/// direct send. Positions with several layers blend a part before they send it.
///
/// With an image order, a position holds one partial result for each run of adjacent images. It
/// folds the images of a run before it sends the run, and runs that become adjacent are folded into
/// one.
///
/// Input     `layers` images of `task.elements` pixels, one after another. `images`: the visibility
///           order of all images, if it differs from the order of positions.
/// Output    the piece of radix_k_piece; all pieces together cover the composited image once.
/// Requires  k_1 * ... * k_r == positions, each k_i >= 2; otherwise throws InvalidTask.
/// Cost      round i: k_i − 1 messages per position, each of elements / (k_1 * ... * k_i) pixels
///           for each partial result.
/// Source    Peterka, Goodell, Ross, Shen, Thakur, SC 2009, doi:10.1145/1654059.1654064
Program radix_k(const Task& task, std::span<const int> radices, int position,
                ImageOrder images = {});

Piece radix_k_piece(const Task& task, std::span<const int> radices, int position);

/// Every ordered factorisation of `ranks` into factors of at least 2, those with fewest rounds
/// first: the first is {p}. For 1 rank, a single empty vector.
/// Cost      proportional to the number of factorisations: 8,192 for 16,384 ranks.
std::vector<std::vector<int>> factorisations(int ranks);

/// The number of ordered factorisations.
std::int64_t count_factorisations(int ranks);

/// Every factorisation with its factors in falling order, those with fewest rounds first.
std::vector<std::vector<int>> falling_factorisations(int ranks);

/// Throws InvalidTask unless each radix is at least 2 and their product is `positions`.
void check_radices(std::span<const int> radices, int positions);

/// The radices of binary swap: log2(positions) twos.
///
/// Requires  `positions` to be a power of two; otherwise throws InvalidTask, with a message that
///           lists the algorithms for any number of positions.
/// Source    Ma, Painter, Hansen, Krogh, IEEE CG&A 14(4), 1994, doi:10.1109/38.291532
std::vector<int> binary_swap_radices(int positions);

/// Binary swap: in each round, pairs at distance 1, 2, 4, ... halve their common piece and exchange
/// halves. Equivalent to Radix-k with every radix 2.
///
/// Input, Output   the same as radix_k.
/// Cost      log2(p) messages per position, of elements / 2, / 4, ... pixels.
Program binary_swap(const Task& task, int position, ImageOrder images = {});

/// 2-3 swap: binary swap for any number of positions. Positions are grouped by a tree whose nodes
/// have two or three children and whose leaves all have depth log2(p), rounded down. Each of the m
/// members of a group holds one of m equal parts of the group's blended image. To merge its
/// children, a group cuts the image into as many parts as it has members; each new part lies inside
/// its new owner's previous part. The owner gathers that part from the other children and blends
/// it. For p = 2^r this is binary swap.
///
/// Input     `layers` images of `task.elements` pixels, one after another.
/// Output    the piece of two_three_swap_piece: one of p equal parts.
/// Cost      at most 3 messages per position in each of log2(p) rounds; each position sends
///           elements (p−1)/p pixels and blends the same number on average.
/// Source    Yu, Wang, Ma, SC 2008, doi:10.1109/SC.2008.5219060
Program two_three_swap(const Task& task, int position);

Piece two_three_swap_piece(const Task& task, int position);

} // namespace sextant::compositing
