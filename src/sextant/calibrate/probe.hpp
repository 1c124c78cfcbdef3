// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/machine/profile.hpp"

#include <optional>
#include <string_view>

namespace sextant::calibrate {

/// The state name of a machine on which other programs often interrupted the probe.
inline constexpr std::string_view busy = "busy";

/// Quickly measures the costs that matter to the ranks of a communicator: fewer costs than
/// `measure_launch` does, and less precisely. On each node, as many pairs of ranks as its cores
/// allow measure at the same time, so that memory is as busy as in a run; the other ranks wait.
///
/// Input     the time to spend; about ten milliseconds are spent in any case. Costs not measured in
///           this time are those of the built-in machine, scaled to the measured ones. If ranks
///           share memory within nodes, messages use it.
/// Output    the same on all ranks; nothing if a rank lacks the memory.
/// Requires  two ranks or more (InvalidTask).
/// Collective.
std::optional<machine::Profile> measure_quickly(const Communicator& communicator, Seconds budget);

} // namespace sextant::calibrate
