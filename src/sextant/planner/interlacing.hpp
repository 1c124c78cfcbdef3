// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/task.hpp"

#include <array>
#include <span>

namespace sextant::planner {

/// Whether pieces of a picture are dealt in rows (compositing/interlace.hpp): where that is
/// reckoned to pay, or as asked for.
enum class Interlace { automatic, on, off };

/// What part of each of so many equal bands of a rank's images something was drawn in.
inline constexpr int drawn_bands = 64;
using DrawnBands = std::array<double, drawn_bands>;

/// What the rank that moves most sends and receives, in images, where messages leave out what was
/// not drawn: by Direct-Send, whose parts are those of most. Where several images meet they are
/// taken to lie independently of each other.
/// Input     `drawn` by position.
double busiest_traffic(const compositing::Task& task, std::span<const DrawnBands> drawn,
                       bool interlaced);

/// Whether the busiest rank of a collected picture moves so much less interlaced that it is worth
/// it. Not of one that stays distributed: who asks for pieces wants them as they lie.
bool interlacing_pays(const compositing::Task& task, std::span<const DrawnBands> drawn);

/// Of how many pixels the blocks are that are dealt: rows, some where they are short.
Elements interlaced_block(Elements row);

} // namespace sextant::planner
