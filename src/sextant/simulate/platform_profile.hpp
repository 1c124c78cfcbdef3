// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/profile.hpp"
#include "sextant/machine/topology.hpp"
#include "sextant/simulate/platform.hpp"

namespace sextant::simulate {

/// Derives a machine profile from a platform: messages without contention, between hosts and within
/// one host; the operator "over" on "f32"; copies. A host sends to many others as fast as all its
/// links together; a path has the mean latency and speed of all paths.
///
/// Cost      the paths from at most 64 hosts to at most 512.
/// Deterministic.
machine::Profile profile_of(const Platform& platform);

/// The links of a platform with their capacities, including the loss when flows share them.
machine::Wires wires_of(const Platform& platform);

} // namespace sextant::simulate
