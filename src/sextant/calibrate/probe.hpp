// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/machine/profile.hpp"

#include <optional>
#include <string_view>

namespace sextant::calibrate {

/// The state name of a machine on which other programs kept interrupting a probe.
inline constexpr std::string_view busy = "busy";

/// Quickly measures the costs that matter to the ranks of a communicator: fewer than
/// `measure_launch`, and less precisely. The ranks of each node measure in pairs, all pairs at once
/// and as many as its cores allow, so that memory is as busy as in a run; the other ranks wait.
///
/// Input     the time to spend; operators and kernels that it does not reach are those of the
///           built-in machine. If ranks share memory within nodes, messages use it.
/// Output    the same on all ranks; nothing if the time was too short for the costs that a model
///           needs, as next to busy programs, or if a rank lacks the memory.
/// Requires  two ranks or more (InvalidTask).
/// Collective.
std::optional<machine::Profile> measure_quickly(const Communicator& communicator, Seconds budget);

} // namespace sextant::calibrate
