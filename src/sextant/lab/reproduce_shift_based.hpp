// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/simulate/platform.hpp"

#include <span>
#include <vector>

namespace sextant::lab {

/// A message between two hosts of a network.
struct HostMessage {
    int from = 0, to = 0;
};

/// The number of these flows on each link.
std::vector<int> loads(const simulate::Network& network, std::span<const HostMessage> flows);

/// The mean fraction of link capacity that the flows get, each limited by its busiest link: 1
/// without contention.
double mean_share(const simulate::Network& network, std::span<const HostMessage> flows);

} // namespace sextant::lab
