// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/machine/profile.hpp"

#include <string>
#include <vector>

namespace sextant::calibrate {

/// A profile that says where it was made, with what and when, and has no costs yet.
machine::Profile describe_machine(const std::string& transport);

/// Rank 0 and another, joined by a class of links.
struct Pair {
    machine::Link link;
    int other = 0;
};

/// A pair for each class of links that joins rank 0 to some rank.
/// Requires  two ranks or more (InvalidTask). Collective.
std::vector<Pair> pairs_of(const Communicator& communicator);

} // namespace sextant::calibrate
