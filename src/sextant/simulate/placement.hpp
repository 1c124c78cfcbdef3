// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/simulate/network.hpp"
#include "sextant/simulate/order.hpp"

#include <span>
#include <string>
#include <vector>

namespace sextant::simulate {

/// A host and how many ranks it takes.
struct Room {
    std::string host;
    int cores = 1;
};

/// Those of a network, in its order.
std::vector<Room> rooms_of(const Network& network);

/// The host of each rank, as an index into `rooms`: those named in `order` one after another, each
/// as often as it has cores; without an order, all of them as they come.
///
/// Throws    InvalidTask: an order that names what is not there, or a host twice; fewer cores than
///           ranks.
std::vector<int> place(std::span<const Room> rooms, std::span<const OrderedHost> order, int ranks,
                       const std::string& platform);

/// Sorts hosts as people number them: n2 before n10.
void sort_naturally(std::vector<Room>& rooms);

} // namespace sextant::simulate
