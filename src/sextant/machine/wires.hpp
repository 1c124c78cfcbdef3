// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <functional>
#include <vector>

namespace sextant::machine {

/// The links of a network, for who asks where messages meet: which of them lie between two nodes,
/// and for how long one is busy.
struct Wires {
    int links = 0;
    /// Appends the links from one node to another, or to itself, in the order of travel.
    std::function<void(int from, int to, std::vector<int>& path)> route;
    /// How long a link needs for so many bytes of so many messages at once.
    std::function<Seconds(int link, double bytes, int messages)> busy;
    /// Of each link. Messages share links in inverse proportion to the latency of their ways;
    /// evenly where this is not given.
    std::function<Seconds(int link)> latency = {};
};

} // namespace sextant::machine
