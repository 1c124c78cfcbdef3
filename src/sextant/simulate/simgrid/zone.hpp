// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/simulate/platform.hpp"

namespace sextant::simulate {

/// Creates SimGrid's hosts, links and routes from a platform. Can be called once per process.
void build_world(const Platform& platform);

} // namespace sextant::simulate
