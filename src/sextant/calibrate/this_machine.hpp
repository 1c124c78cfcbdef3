// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/machine/profile.hpp"

#include <string>
#include <vector>

namespace sextant::calibrate {

/// What this machine is made of, as hwloc sees it, for people and for comparing: "1 package, 2
/// cores, 1 NUMA node, 1 L3 cache of 32 MiB, AMD EPYC 7B13". Empty where hwloc can tell nothing.
/// Cost  some ten milliseconds at first; later calls return the same text.
const std::string& topology_here();

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
