// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/program.hpp"
#include "sextant/schedule/prove.hpp"
#include "sextant/schedule/symbolic_memory.hpp"

#include <vector>

namespace sextant {

/// Plays all ranks' programs on symbols, one step at a time, until none can go on.
///
/// Input     all ranks' programs with their dependences; what the ranks hold at the start.
/// Output    the longest chain of dependent applications; in `memory` what the ranks hold at the
///           end.
/// Throws    std::logic_error naming rank and step: messages that do not match, ranks that wait for
///           ever, operands that do not meet in order, and what SymbolicMemory refuses.
/// Deterministic.  `seed` orders the steps of Delivery::shuffled.
int play(const Schedule& schedule, const std::vector<Dependences>& dependences, Delivery delivery,
         unsigned seed, SymbolicMemory& memory);

} // namespace sextant
