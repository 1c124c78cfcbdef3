// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/simulate/grid.hpp"

#include <cstdlib>

#include <fmt/format.h>

namespace sextant::simulate {

namespace {

struct Grid {
    std::vector<int> extents;
    bool wraps = false;
    bool has_injection = false;
    int hosts = 1;

    int dimensions() const { return static_cast<int>(extents.size()); }
    int links_a_host() const { return 2 * dimensions() + (has_injection ? 2 : 0); }
    /// Which way: upward first, along the first dimension first.
    int link(int host, int dimension, bool up) const {
        return host * links_a_host() + 2 * dimension + (up ? 0 : 1);
    }
    int injection(int host) const { return host * links_a_host() + 2 * dimensions(); }
    int ejection(int host) const { return injection(host) + 1; }

    bool goes_up(int extent, int from, int to) const {
        if (!wraps)
            return to > from;
        const int up = (to - from + extent) % extent;
        return 2 * up < extent || (2 * up == extent && from % 2 == 0);
    }

    void route(int from, int to, std::vector<int>& path) const {
        if (has_injection)
            path.push_back(injection(from));
        int here = from, stride = 1;
        for (int d = 0; d < dimensions(); stride *= extents[static_cast<std::size_t>(d)], ++d) {
            const int extent = extents[static_cast<std::size_t>(d)];
            const int end = to / stride % extent;
            int at = from / stride % extent;
            const bool up = goes_up(extent, at, end);
            while (at != end) {
                path.push_back(link(here, d, up));
                const int next = (at + (up ? 1 : extent - 1)) % extent;
                here += (next - at) * stride;
                at = next;
            }
        }
        if (has_injection)
            path.push_back(ejection(to));
    }
};

Grid read_grid(const machine::Field& network, bool wraps) {
    Grid grid;
    grid.wraps = wraps;
    grid.has_injection = network.find("injection").has_value();
    const machine::Field extents = network.at("extents");
    for (const machine::Field& extent : extents.items()) {
        grid.extents.push_back(static_cast<int>(extent.integer(1, most_hosts / grid.hosts)));
        grid.hosts *= grid.extents.back();
    }
    if (grid.extents.empty())
        extents.refuse("the number of hosts along each dimension");
    return grid;
}

Network build(const machine::Field& network, const Wire& wire, bool wraps) {
    const Grid grid = read_grid(network, wraps);
    Network made;
    made.hosts = numbered_hosts(grid.hosts);
    for (const std::string& host : made.hosts) {
        for (int d = 0; d < grid.dimensions(); ++d) {
            for (const char* way : {"up", "down"})
                made.links.push_back({fmt::format("{}-{}{}", host, way, d), wire.bytes_per_second,
                                      wire.latency, true});
        }
        if (!grid.has_injection)
            continue;
        const double rate = network.at("injection").number(1, machine::Field::most);
        made.links.push_back({host + "-out", rate, 0, true});
        made.links.push_back({host + "-in", rate, 0, true});
    }
    made.route = [grid](int from, int to, std::vector<int>& path) { grid.route(from, to, path); };
    return made;
}

} // namespace

Network mesh(const machine::Field& network, const Wire& wire) {
    return build(network, wire, false);
}

Network torus(const machine::Field& network, const Wire& wire) {
    return build(network, wire, true);
}

} // namespace sextant::simulate
