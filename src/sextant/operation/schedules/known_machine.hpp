// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/profile.hpp"
#include "sextant/machine/wires.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sextant::operation {

/// A machine that need not be there, as a file tells of it: a profile of what was measured, or a
/// platform (docs/platform.md), whose links are known too.
struct KnownMachine {
    machine::Profile profile;
    std::optional<machine::Wires> wires; ///< of a platform
    std::vector<int> nodes;              ///< of a platform, by rank: each takes one a core
};

/// The path of a profile or platform that a user gives, or names as one of those that Sextant ships
/// ("das", "torus-8x8x8"). Throws InvalidTask with near names.
std::string machine_file(const std::string& given);

/// Whether that file tells of a platform. Throws InvalidTask, InvalidFile.
bool is_platform(const std::string& given);

/// Throws    InvalidTask: an unknown name, more ranks than a platform has cores. InvalidFile.
KnownMachine known_machine(const std::string& given, int ranks);

} // namespace sextant::operation
