// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/task.hpp"

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
/// Output    part i of p of the picture, as `part_of` cuts it.
/// Cost      p − 1 messages a position, of elements / p pixels a layer.
/// Source    Neumann, IEEE CG&A 14(4), 1994, doi:10.1109/38.291531
Program direct_send(const Task& task, Partners partners, int window, int position,
                    Piece (*part_of)(const Task&, int) = equal_part);

} // namespace sextant::compositing
