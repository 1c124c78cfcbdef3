// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/lab/reproduce_experiments.hpp"

#include <string_view>
#include <vector>

namespace sextant::lab {

/// The assumptions about Blue Gene/P that the Radix-k paper does not state.
inline constexpr std::string_view blue_gene_assumptions =
    "Blue Gene/P, 374 MB/s per link; 1.5 us per message and 25 Mpx/s are assumed, because the "
    "paper "
    "states neither";

/// The radices of the paper's Figure 4: 8 while the number of ranks is divisible by 8, then the
/// remaining factor.
std::vector<int> eights_first(int ranks);

/// The radices of Binary-Swap: as many twos as a power of two has.
std::vector<int> twos(int ranks);

/// The simulated time of Radix-k for one image of `pixels` 16-byte pixels per rank.
double radix_k_milliseconds(const std::vector<int>& radices, Elements pixels,
                            const simulate::Platform& platform, const Conditions& conditions = {});

} // namespace sextant::lab
