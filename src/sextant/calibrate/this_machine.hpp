// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/machine/profile.hpp"

#include <string>
#include <vector>

namespace sextant::calibrate {

/// The hardware of this machine as reported by hwloc, as text to show and to compare: "1 package,
/// 2 cores, 1 NUMA node, 1 L3 cache of 32 MiB, AMD EPYC 7B13". Empty if hwloc reports nothing.
/// Cost      about ten milliseconds for the first call; later calls return the cached text.
const std::string& topology_here();

/// A profile without costs that describes this machine, its software and the date.
machine::Profile describe_machine(const std::string& transport);

/// Rank 0 and another rank, and the class of the link between them.
struct Pair {
    machine::Link link;
    int other = 0;
};

/// One pair for each class of links between rank 0 and some other rank.
/// Requires  two ranks or more (InvalidTask).
/// Collective.
std::vector<Pair> pairs_of(const Communicator& communicator);

} // namespace sextant::calibrate
