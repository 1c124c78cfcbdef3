// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/calibrate/campaign.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/machine/profile.hpp"

#include <functional>

namespace sextant::calibrate {

/// Gives every pair of ranks that stands for a class of links a rig, one pair after another, and
/// the other ranks nothing to do. Collective.
void with_rigs(const Communicator& communicator, Bytes memory,
               const std::function<void(Stopwatch&, machine::Link)>& body);

/// Measures this machine once: each class of links for its part of the budget, and work with the
/// first of them.
///
/// Input     the sizes of `earlier`, if any, are measured too.
/// Output    on rank 0 the profile of this launch, with a note where its state changed meanwhile.
/// Requires  two ranks or more (InvalidTask). Collective.
machine::Profile measure_launch(const Communicator& communicator, const machine::Profile* earlier,
                                const CampaignOptions& options);

} // namespace sextant::calibrate
