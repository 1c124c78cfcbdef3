// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/simulate/platform.hpp"

#include <span>
#include <vector>

namespace sextant::simulate {

/// A message between two hosts of a network.
struct Flow {
    int from = 0, to = 0;
};

/// How many of these flows go over each link.
std::vector<int> loads(const Network& network, std::span<const Flow> flows);

/// The part of a link's capacity that the flows get on average, each as its busiest link lets it:
/// 1 where no two meet.
double mean_share(const Network& network, std::span<const Flow> flows);

} // namespace sextant::simulate
