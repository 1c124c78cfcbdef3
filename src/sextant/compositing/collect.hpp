// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/composite_task.hpp"
#include "sextant/schedule/program.hpp"

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

} // namespace sextant::compositing
