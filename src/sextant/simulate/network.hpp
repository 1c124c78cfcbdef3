// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <functional>
#include <string>
#include <vector>

namespace sextant::simulate {

/// A network as data: hosts, links that each go one way, and the one path from each host to each.
/// Builders of shapes make it; a simulator runs on it, and `load` counts on it.
struct Network {
    struct Link {
        std::string name;
        double bytes_per_second = 0;
        Seconds latency = 0;
        bool loses = false; ///< capacity as flows share it, see Platform::loss
    };

    std::vector<std::string> hosts;
    int cores = 1; ///< of each host
    std::vector<Link> links;
    /// Appends the links from one host to another, or to itself, in the order of travel.
    std::function<void(int from, int to, std::vector<int>& path)> route;
};

/// The path between two hosts.
inline std::vector<int> path_of(const Network& network, int from, int to) {
    std::vector<int> path;
    network.route(from, to, path);
    return path;
}

} // namespace sextant::simulate
