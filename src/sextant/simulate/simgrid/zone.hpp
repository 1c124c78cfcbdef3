// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/simulate/platform.hpp"

namespace sextant::simulate {

/// Makes SimGrid's world of a platform of ours: its hosts, its links, its routes. Once a process.
void build_world(const Platform& platform);

} // namespace sextant::simulate
