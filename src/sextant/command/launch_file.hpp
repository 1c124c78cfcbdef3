// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/profile.hpp"

#include <span>
#include <string>
#include <vector>

namespace sextant::calibrate {

/// The JSON of a profile with, under "launches", the profiles of the launches that it was merged
/// from, so that more can be added. Readers of profiles look only at the profile.
std::string text_with_launches(const machine::Profile& merged,
                               std::span<const machine::Profile> launches);

/// The launches that a file was merged from.
/// Throws    InvalidFile as read_profile does, and for a profile that names no launches.
std::vector<machine::Profile> read_launches(const std::string& path);

} // namespace sextant::calibrate
