// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"

#include <cstdint>
#include <vector>

namespace sextant {

/// A number of this host since it was started: equal where clocks and memory can be shared.
std::uint64_t host_identity();

/// On which node each rank lies, by rank: nodes are numbered by their first ranks. Collective.
std::vector<int> nodes_of(const Communicator& communicator);

} // namespace sextant
