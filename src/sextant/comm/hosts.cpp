// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/hosts.hpp"

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
    std::map<std::uint64_t, int> numbers;
    std::vector<int> nodes;
    for (const std::uint64_t host : communicator.all_gather(host_identity()))
        nodes.push_back(numbers.try_emplace(host, static_cast<int>(numbers.size())).first->second);
    return nodes;
}

} // namespace sextant
