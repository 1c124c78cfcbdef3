// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/composite_task.hpp"
#include "sextant/schedule/program.hpp"

#include <functional>
#include <span>

namespace sextant::compositing {

/// Appends the collection of the picture at `task.root`: each owner sends its piece there as soon
/// as it is final, and the root receives straight into the picture, where its own last fold writes
/// too.
///
/// Input     the rank's program, peers already ranks; at the root, the piece of each position.
/// Output    at the root a program whose result is the picture, in an output buffer (in its input
///           where it alone holds the only image); elsewhere a program with an empty result.
/// Cost      one message an owner; at the root, as many as there are other owners.
Program collect(Program program, const Task& task, std::span<const Piece> pieces, int rank);

/// The most segments that can be asked for: more only make messages too small to pay.
inline constexpr int most_segments = 4096;

/// A collected picture in segments, one after another, by whatever algorithm: while one is
/// collected the next is exchanged, what came is blended while it is in the caches, and scratch is
/// that of two segments, which take turns.
///
/// Input     a task with a root; the program of `rank` for a segment: the same task, of fewer
///           pixels.
/// Output    as the program for the whole picture has.
/// Cost      the messages of each segment; scratch of 2 / `segments` of the whole's.
/// Source    as MPI's collectives cut long messages: Pjesivac-Grbovic et al. 2007,
///           doi:10.1007/s10586-007-0012-0
Program in_segments(const Task& task, int segments, int rank,
                    const std::function<Program(const Task&)>& program);

} // namespace sextant::compositing
