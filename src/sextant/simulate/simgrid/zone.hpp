// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/simulate/platform.hpp"

#include <span>
#include <vector>

#include <simgrid/s4u.hpp>

namespace sextant::simulate {

/// Creates SimGrid's links and routes from a platform, and returns one SimGrid host per given core
/// (numbered as in Network::route). The platform must outlive SimGrid's engine. Can be called once
/// per process.
std::vector<simgrid::s4u::Host*> build_world(const Platform& platform, std::span<const int> cores);

} // namespace sextant::simulate
