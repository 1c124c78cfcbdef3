// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/composite_task.hpp"

namespace sextant::compositing {

/// The order in which a position exchanges messages with the p − 1 others.
enum class Partners {
    ascending, ///< positions 0, 1, 2, ... except its own
    shifted    ///< in step s, sends to position + s and receives from position − s, modulo p
};

/// Direct-Send: position i owns part i of p. Every other position sends part i of each of its
/// layers to position i, which blends all of them in one fold. The result is bit-identical to a
/// serial fold.
///
/// Input     `layers` images of `task.elements` pixels, one after another. `images`: the visibility
///           order of all images, if it differs from the order of positions.
/// Output    part i of p of the composited image (equal_part).
/// Cost      p − 1 messages per position, of elements / p pixels per layer.
/// Source    Neumann, IEEE CG&A 14(4), 1994, doi:10.1109/38.291531
Program direct_send(const Task& task, Partners partners, int window, int position,
                    ImageOrder images = {});

/// Shift-Based compositing: Direct-Send in shift order, one stage of messages at a time (window 1).
/// At any time every rank sends one message and receives one; fat trees route such permutations
/// without contention.
///
/// Input, Output, Cost   the same as Direct-Send.
/// Source    Cavin and Demengeon, EGPGV 2012, doi:10.2312/EGPGV/EGPGV12/129-138
Program shift_based(const Task& task, int window, int position, ImageOrder images = {});

/// Parallel Pipeline: positions form a ring. Part c of p starts at position c + 1, travels around
/// the ring, is blended with each position's own pixels, and ends at position c. In each step every
/// position sends one part and receives one.
///
/// From position p − 1 to 0 a part passes from the last image to the first (the wrap). Because
/// `over` does not commute, two partial results travel from there on: that of the images in front
/// and that of the images behind. They form one message of two blocks and are combined at the end.
///
/// Input     `layers` images of `task.elements` pixels, one after another.
/// Output    part i of p of the composited image (equal_part).
/// Cost      p − 1 messages per position, of elements / p pixels before the wrap and twice as many
///           after it: elements (p−1)/p (1 + (p−2)/2p) on average, 1 + (p−2)/(p−1) at position 0.
///           Scratch of at most one image: buffers of forwarded parts are reused.
/// Source    Lee, Raghavendra, Nicholas, IEEE TVCG 2(3), 1996, doi:10.1109/2945.537304
Program parallel_pipeline(const Task& task, int window, int position);

} // namespace sextant::compositing
