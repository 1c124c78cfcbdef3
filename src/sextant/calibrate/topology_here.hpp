// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace sextant::calibrate {

/// What this machine is made of, as hwloc sees it, for people and for comparing: "1 package, 2
/// cores, 1 NUMA node, 1 L3 cache of 32 MiB, AMD EPYC 7B13". Empty where hwloc can tell nothing.
/// Cost  some ten milliseconds at first; later calls return the same text.
const std::string& topology_here();

} // namespace sextant::calibrate
