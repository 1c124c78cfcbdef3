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

/// The number of messages on each link.
std::vector<int> loads(const simulate::Network& network, std::span<const HostMessage> flows);

/// The mean, over the messages, of the fraction of link bandwidth that a message gets, limited by
/// the busiest link on its route: 1 without contention.
double mean_share(const simulate::Network& network, std::span<const HostMessage> flows);

} // namespace sextant::lab
