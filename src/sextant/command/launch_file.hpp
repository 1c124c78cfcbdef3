// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/profile.hpp"

#include <span>
#include <string>
#include <vector>

namespace sextant::calibrate {

/// The JSON of a merged profile with the profiles of its launches under "launches", so that
/// launches can be added later. Readers of profiles ignore these.
std::string text_with_launches(const machine::Profile& merged,
                               std::span<const machine::Profile> launches);

/// Reads the launches of a merged profile. Throws InvalidFile as read_profile does, and if the
/// profile has no launches.
std::vector<machine::Profile> read_launches(const std::string& path);

} // namespace sextant::calibrate
