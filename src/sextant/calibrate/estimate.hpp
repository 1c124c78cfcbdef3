// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/calibrate/campaign.hpp"
#include "sextant/machine/profile.hpp"

#include <span>
#include <string_view>
#include <vector>

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

/// Profiles of launches as one a state of the machine. What varies from launch to launch is what
/// one launch cannot tell, so a merged value is the median of the launches' medians, and its
/// interval that of those medians.
///
/// Launches are in one state where their probes' round trips lie within a factor of 1.4 of a
/// neighbour's. A state seen in one launch only is left out where others were seen in more, and so
/// are launches that changed their state, where most did not, and a point that less than a third
/// of the launches measured. Switches of protocol are read off the merged curves.
///
/// Input     one launch or more, of one machine.
/// Output    the state seen most often first; `method` says what went in and what was left out.
std::vector<machine::Profile> merged(std::span<const machine::Profile> launches);

} // namespace sextant::calibrate
