// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/task.hpp"

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

} // namespace sextant::compositing
