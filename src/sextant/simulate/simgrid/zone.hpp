// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/simulate/platform.hpp"

namespace sextant::simulate {

/// Builds SimGrid's world from a platform: hosts, links and routes. At most once per process.
void build_world(const Platform& platform);

} // namespace sextant::simulate
