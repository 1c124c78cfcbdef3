// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/composite_task.hpp"
#include "sextant/schedule/program.hpp"

#include <functional>
#include <span>

namespace sextant::compositing {

/// Appends the collection of the composited image at `task.root`. Each owner sends its piece as
/// soon as it is final; the root receives directly into the composited image, and its own last fold
/// writes there too.
///
/// Input     the rank's program, with ranks as peers; at the root, the piece of each position.
/// Output    at the root, a program whose result is the composited image, in an output buffer (in
///           its input if the root holds the only image); elsewhere a program with an empty result.
/// Cost      one message per owner, all received by the root.
Program collect(Program program, const Task& task, std::span<const Piece> pieces, int rank);

/// The largest number of segments allowed; more would only make messages too small.
inline constexpr int most_segments = 4096;

/// Composites a collected image in segments, one after another, by any algorithm. While one segment
/// is collected the next is exchanged, so received data is blended while it is in the caches. Two
/// sets of scratch buffers are used in turn.
///
/// Input     a task with a root; the program of `rank` for one segment: the same task, fewer
///           pixels.
/// Output    as the program for the whole image.
/// Cost      the messages of each segment; scratch of 2 / `segments` of the unsegmented program's.
/// Source    segmentation of MPI collectives: Pjesivac-Grbovic et al. 2007,
///           doi:10.1007/s10586-007-0012-0
Program in_segments(const Task& task, int segments, int rank,
                    const std::function<Program(const Task&)>& program);

} // namespace sextant::compositing
