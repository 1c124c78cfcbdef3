// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/json_value.hpp"
#include "sextant/machine/profile.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::machine {

/// The version of the file format that is written, and the newest that can be read.
inline constexpr int profile_version = 1;

/// Parses the JSON of a profile; docs/machine.md describes the fields.
///
/// Input     the text of a file, and its path for error messages.
/// Throws    InvalidFile naming file, field, value and what was expected: invalid JSON, a newer
///           version, missing or wrong fields, curves without points, points out of order,
///           duplicate curves or links, medians outside their intervals.
Profile parse_profile(std::string_view text, const std::string& path);

/// Reads a profile from a file of at most 64 MiB.
Profile read_profile(const std::string& path);

/// Convert a profile to JSON, and to the text of a file. parse_profile restores the profile
/// exactly.
Json json_of(const Profile& profile);
std::string profile_text(const Profile& profile);

/// Returns the JSON of a merged profile, which includes the profiles of its launches under
/// "launches", so that launches can be added later. read_profile ignores the launches.
std::string text_with_launches(const Profile& merged, std::span<const Profile> launches);

/// Reads the launches of a merged profile. Throws InvalidFile as read_profile does, and if the
/// profile has no launches.
std::vector<Profile> read_launches(const std::string& path);

/// The profile for machines that were not measured: rounded figures for servers and clusters of the
/// 2020s (threads, processes of a node, nodes). Accurate only to orders of magnitude.
const Profile& built_in();

} // namespace sextant::machine
