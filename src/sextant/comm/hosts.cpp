// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/hosts.hpp"

#include <compare>
#include <fstream>
#include <functional>
#include <map>
#include <string>

namespace sextant {

std::uint64_t host_identity() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string boot;
    file >> boot;
    return std::hash<std::string>()(boot);
}

std::vector<int> nodes_of(const Communicator& communicator) {
    struct Place {
        std::uint64_t host;
        int node; ///< of those that the host counts as
        auto operator<=>(const Place&) const = default;
    };
    std::map<Place, int> numbers;
    std::vector<int> nodes;
    const Place mine{host_identity(), communicator.transport().node_of_host()};
    for (const Place& place : communicator.all_gather(mine))
        nodes.push_back(numbers.try_emplace(place, static_cast<int>(numbers.size())).first->second);
    return nodes;
}

} // namespace sextant
