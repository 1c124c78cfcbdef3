// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "papers/experiments.hpp"

namespace sextant::papers {

/// The radices of the paper's Figure 4: 8 as long as the number of ranks is divisible by 8, then
/// the remaining factor.
std::vector<int> eights_first(int ranks);

/// The radices of Binary-Swap for a power of two: log2(ranks) twos.
std::vector<int> twos(int ranks);

/// The simulated time of Radix-k for one image of `pixels` 16-byte pixels per rank.
double radix_k_milliseconds(const std::vector<int>& radices, Elements pixels,
                            const simulate::Platform& platform, const Conditions& conditions = {});

} // namespace sextant::papers
