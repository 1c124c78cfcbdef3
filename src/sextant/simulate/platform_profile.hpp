// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/profile.hpp"
#include "sextant/machine/topology.hpp"
#include "sextant/simulate/platform.hpp"

namespace sextant::simulate {

/// What a machine's profile says of a platform: of messages that meet no other, between hosts and
/// within one, of the operator "over" on "f32", and of copies. A host sends to many others at once
/// as fast as its links together; a path is as long and as slow as those of its hosts are in the
/// mean.
///
/// Cost      the paths from at most 64 hosts to at most 512.
/// Deterministic.
machine::Profile profile_of(const Platform& platform);

/// Where messages meet on it: links by their capacity, and what they lose of it as flows share
/// them.
machine::Wires wires_of(const Platform& platform);

} // namespace sextant::simulate
