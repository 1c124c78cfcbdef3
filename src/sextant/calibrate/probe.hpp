// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/machine/profile.hpp"

#include <optional>
#include <string_view>

namespace sextant::calibrate {

/// The state of a machine on which other programs kept interrupting a probe.
inline constexpr std::string_view busy = "busy";

/// Measures in a moment what the ranks of a communicator will meet: less of it than
/// `measure_launch`, and less well. The ranks of each node measure in pairs, all pairs at once, as
/// many as its cores hold, so that memory is as busy as in a run; the other ranks wait.
///
/// Input     the time to spend; operators and kernels that it does not reach are as built in. Where
///           ranks share nodes' memory, messages use that.
/// Output    the same on all ranks; nothing where the time was over before all was measured that a
///           model needs, as beside busy programs, or where a rank lacks the memory.
/// Requires  two ranks or more (InvalidTask). Collective.
std::optional<machine::Profile> measure_quickly(const Communicator& communicator, Seconds budget);

} // namespace sextant::calibrate
