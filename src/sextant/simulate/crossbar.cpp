// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/simulate/crossbar.hpp"

#include <fmt/format.h>

namespace sextant::simulate {

Network crossbar(const machine::Field& network, const Wire& wire) {
    Network made;
    const auto hosts = static_cast<int>(network.at("hosts").integer(1, most_hosts));
    made.hosts = numbered_hosts(hosts);
    for (int host = 0; host < hosts; ++host) {
        for (const char* way : {"out", "in"})
            made.links.push_back(
                {fmt::format("{}-{}", made.hosts[static_cast<std::size_t>(host)], way),
                 wire.bytes_per_second, wire.latency, true});
    }
    made.route = [](int from, int to, std::vector<int>& path) {
        path.insert(path.end(), {2 * from, 2 * to + 1});
    };
    return made;
}

} // namespace sextant::simulate
