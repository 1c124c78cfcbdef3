// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/composite_task.hpp"
#include "sextant/schedule/program.hpp"

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

} // namespace sextant::compositing
