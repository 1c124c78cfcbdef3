// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/composite_task.hpp"

namespace sextant::compositing {

/// In which order a position meets the p − 1 others.
enum class Partners {
    ascending, ///< 0, 1, 2, ... without itself
    shifted    ///< at step s it sends to position + s and receives from position − s, modulo p
};

/// Direct-Send: position i owns part i of p; every other position sends it that part of each of its
/// layers, unfolded, and it blends them all in one fold. The result therefore equals the serial
/// fold to the bit.
///
/// Input     `layers` images of `task.elements` pixels, one after another.
/// Output    part i of p of the picture (equal_part).
/// Cost      p − 1 messages a position, of elements / p pixels a layer.
/// Source    Neumann, IEEE CG&A 14(4), 1994, doi:10.1109/38.291531
Program direct_send(const Task& task, Partners partners, int window, int position);

/// Shift-Based compositing: Direct-Send in shift order, one stage of messages at a time (window 1),
/// so that at each moment every rank sends one message and receives one, a permutation that
/// fat-trees route without contention.
///
/// Input, Output, Cost   as Direct-Send.
/// Source    Cavin and Demengeon, EGPGV 2012, doi:10.2312/EGPGV/EGPGV12/129-138
Program shift_based(const Task& task, int window, int position);

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
