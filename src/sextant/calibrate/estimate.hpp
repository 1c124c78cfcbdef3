// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/calibrate/campaign.hpp"
#include "sextant/machine/profile.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace sextant::calibrate {

/// The maximum ratio of two probe round trips that count as the same state of the machine, in one
/// launch or in two.
inline constexpr double one_state = 1.4;
/// The state name of a launch whose state changed.
inline constexpr std::string_view unsteady = "unsteady";

/// Derives the costs of messages and work from the measurements of one launch.
///
/// An empty message takes half its round trip: t_cf. The full path of any other message is its
/// round trip minus t_cf, since the answer is an empty message. The time to start a run is the
/// smallest exchange in which two ranks fold each other's data, minus t_cf and the pass; the full
/// path of a zero-copy message is its exchange, minus this time and the pass. The send path is the
/// interval between messages of a saturated stream on the sender's clock, the receive path that on
/// the receiver's; the gap is the longer of them.
///
/// Input     measurements; the link class of the two ranks.
/// Output    a profile with links, operators, kernels, copies and the machine's state; the state is
///           `unsteady` if it changed during the measurements. One-byte messages appear as 0 bytes
///           on every curve.
/// Source    Seinstra and Koelma, IEEE TPDS 13(7), 2002, Figure 8, corrected
machine::Profile costs_of(const Measurements& measurements, machine::Link link);

/// Adds the links in `costs` to a profile; `with_work`: also operators, kernels, copies and the
/// state.
void add_costs(machine::Profile& profile, const machine::Profile& costs, bool with_work);

/// Merges the profiles of launches into one per state of the machine. One launch does not show the
/// variation between launches, so a merged value is the median of the launches' medians, with the
/// interval of these medians.
///
/// Launches are sorted by the round trip of their probe. A launch belongs to the state of the
/// previous one if its round trip is at most 1.4 times as long. The following are left out: a state
/// seen in one launch only, if others were seen in more; launches during which the state changed,
/// if it did not change in most; and points measured by fewer than a third of the launches.
/// Protocol switches are determined from the merged curves.
///
/// Input     one launch or more, of one machine.
/// Output    the state seen most often first; `method` says what was merged and what was left out.
std::vector<machine::Profile> merged(std::span<const machine::Profile> launches);

} // namespace sextant::calibrate
