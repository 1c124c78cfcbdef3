// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/task.hpp"

namespace sextant::compositing {

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
