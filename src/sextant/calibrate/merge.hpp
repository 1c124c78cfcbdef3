// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/profile.hpp"

#include <span>
#include <vector>

namespace sextant::calibrate {

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
