// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/calibrate/campaign.hpp"
#include "sextant/machine/profile.hpp"

#include <string_view>

namespace sextant::calibrate {

/// What the probe's round trips of one state differ by at most, from launch to launch or within
/// one.
inline constexpr double one_state = 1.4;
/// The state of a launch that was not in one.
inline constexpr std::string_view unsteady = "unsteady";

/// The costs of messages and work from what was measured in one launch.
///
/// The empty message is half its round trip: t_cf. The full path of another is its round trip less
/// t_cf, since the answer is an empty message; of a lent one, less the pass that folds it too. Send
/// and receive paths are the times from message to message of a saturated stream, by the clock of
/// either side; the gap is the longer.
///
/// Input     measurements; the link class of the two ranks.
/// Output    the state `unsteady` where the probe changed meanwhile; links, operators, kernels,
///           copies and the state's probe of a profile. A message of one byte stands at 0 bytes, on
///           every curve.
/// Source    Seinstra and Koelma, IEEE TPDS 13(7), 2002, Figure 8, mended
machine::Profile costs_of(const Measurements& measurements, machine::Link link);

/// Adds the links of such costs to a profile; with_work: their work and state too.
void add_costs(machine::Profile& profile, const machine::Profile& costs, bool with_work);

} // namespace sextant::calibrate
