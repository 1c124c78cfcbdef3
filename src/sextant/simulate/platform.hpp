// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/simulate/costs.hpp"
#include "sextant/simulate/network.hpp"

#include <cmath>
#include <string>
#include <string_view>

namespace sextant::simulate {

/// What a link keeps of its capacity when many flows share it: all of it for up to `flows`, then a
/// part that falls with each doubling. A fluid model has no such loss.
struct Loss {
    double flows = 1, per_doubling = 0;

    double kept(int sharing) const {
        const double over = sharing / flows;
        return over > 1 ? 1 / (1 + per_doubling * std::log2(over)) : 1;
    }
};

/// A machine to simulate on, described in our own words.
struct Platform {
    std::string name;
    std::string source; ///< where its numbers are from
    std::string fitted; ///< what was fitted to which measurement; "" for nothing
    Network network;
    Loss loss;
    Costs costs; ///< what its ranks' own work costs, where that is known
};

/// A platform from its JSON; docs/platform.md has the fields.
///
/// Throws    InvalidFile naming file, field, value and what was expected.
Platform parse_platform(std::string_view text, const std::string& path);

/// The same from a file of at most 64 MiB.
Platform read_platform(const std::string& path);

/// Whether a file of JSON is a platform, which has a source, or else the profile of a machine,
/// which has a method. Throws InvalidFile.
bool is_platform(const std::string& path);

/// Whether a file is to be read as our JSON; others are SimGrid's.
bool is_json(const std::string& path);

} // namespace sextant::simulate
