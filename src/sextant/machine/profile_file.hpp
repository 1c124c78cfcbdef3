// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/profile.hpp"

#include <string>
#include <string_view>

namespace sextant::machine {

/// The version of the file format that is written, and the newest that is read.
inline constexpr int profile_version = 1;

/// A profile from its JSON; docs/machine.md has the fields.
///
/// Input     the text of a file, and the path to name in errors.
/// Throws    InvalidFile naming file, field, value and what was expected: text that is no JSON, a
///           newer version, missing or wrong fields, cells without points, points out of order,
///           two cells or links of one kind, medians outside their intervals.
Profile parse_profile(std::string_view text, const std::string& path);

/// The same from a file of at most 64 MiB.
Profile read_profile(const std::string& path);

/// The JSON of a profile, which parse_profile gives back as it was; for whoever writes files.
std::string profile_text(const Profile& profile);

/// What to plan with where nothing was measured: round figures of servers and clusters of the
/// 2020s, of threads, processes of a node, and nodes. Good for orders of magnitude.
const Profile& built_in();

} // namespace sextant::machine
