// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/simulate/load.hpp"

#include <algorithm>

namespace sextant::simulate {

std::vector<int> loads(const Network& network, std::span<const Flow> flows) {
    std::vector<int> loads(network.links.size());
    for (const Flow& flow : flows) {
        for (const int link : path_of(network, flow.from, flow.to))
            ++loads[static_cast<std::size_t>(link)];
    }
    return loads;
}

double mean_share(const Network& network, std::span<const Flow> flows) {
    const std::vector<int> all = loads(network, flows);
    double sum = 0;
    for (const Flow& flow : flows) {
        int busiest = 1;
        for (const int link : path_of(network, flow.from, flow.to))
            busiest = std::max(busiest, all[static_cast<std::size_t>(link)]);
        sum += 1.0 / busiest;
    }
    return flows.empty() ? 1 : sum / static_cast<double>(flows.size());
}

} // namespace sextant::simulate
