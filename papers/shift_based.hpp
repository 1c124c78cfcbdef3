// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/program.hpp"
#include "sextant/simulate/platform.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace sextant::papers {

/// A message between two hosts of a network.
struct HostMessage {
    int from = 0, to = 0;
};

/// The number of messages on each link.
std::vector<int> loads(const simulate::Network& network, std::span<const HostMessage> flows);

/// The number of messages on the busiest link.
int most_load(const simulate::Network& network, std::span<const HostMessage> flows);

/// The messages of one stage of Shift-Based: rank i sends to rank (i + by) mod ranks.
std::vector<HostMessage> shift(int ranks, int by);

/// The maximum number of messages that share a link in any stage of Shift-Based.
int most_load_of_shifts(const simulate::Network& network, int ranks);

/// The mean fraction of link bandwidth that a message gets, where the busiest link on its route
/// limits the message; 1 without contention.
double mean_share(const simulate::Network& network, std::span<const HostMessage> flows);

/// Parallel Pipeline for a commutative operator, such as the nearest depth of Lee et al. 1996: one
/// partial result of each part travels around the ring. (compositing::parallel_pipeline keeps the
/// order of operands, and sends two partial results after the ring's end.)
Program commutative_pipeline(Elements elements, int ranks, int rank);

/// The maximum number of messages that a rank sends, in all and in one stage, and the maximum and
/// the mean number of images that a rank sends.
struct Sent {
    double messages = 0, stage_messages = 0, images = 0, mean_images = 0;
};

/// The messages of 2-3 Swap if groups are merged from single ranks upwards, in pairs, with the last
/// three at once, and the members of a group own its parts in rank order.
Sent sent_by_tree_from_leaves(int ranks);

/// A crossbar with the paper's beta. Ranks blend 130 Mpx/s if `blends` is set, otherwise in no
/// time.
simulate::Platform ideal_crossbar(std::size_t hosts, bool blends = false);

} // namespace sextant::papers
