// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/task.hpp"

namespace sextant::compositing {

/// Parallel Pipeline: positions form a ring. Part c of p starts at position c + 1, goes round, is
/// blended with each position's own, and ends at position c: at each step every position sends one
/// part and receives one.
///
/// `over` does not commute, and from position p − 1 to 0 a part passes from the last image to the
/// first. From there on two partial results travel in one message of two blocks, of the images in
/// front and of those behind, and meet at the end.
///
/// Input     `layers` images of `task.elements` pixels, one after another.
/// Output    part i of p of the picture (equal_part).
/// Cost      p − 1 messages a position; of elements / p pixels before the wrap and twice as many
///           after it: elements (p−1)/p (1 + (p−2)/2p) in the mean, 1 + (p−2)/(p−1) at position 0.
///           Scratch of an image at most: what was sent on makes room for what comes.
/// Source    Lee, Raghavendra, Nicholas, IEEE TVCG 2(3), 1996, doi:10.1109/2945.537304
Program parallel_pipeline(const Task& task, int window, int position);

} // namespace sextant::compositing
