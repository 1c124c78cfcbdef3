// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/simulate/platform_profile.hpp"

#include <algorithm>
#include <memory>
#include <set>

namespace sextant::simulate {

namespace {

using machine::exactly;
using machine::Layout;
using machine::Path;
using machine::Strategy;

/// Mean properties of the paths of hosts.
struct Ways {
    Seconds latency = 0;
    double path_seconds_per_byte = 0;      ///< of the slowest link on the path
    double injection_seconds_per_byte = 0; ///< of all links that leave a host together
};

const Network::Link& link_of(const Network& network, int link) {
    return network.links[static_cast<std::size_t>(link)];
}

Ways within(const Network& network) {
    Ways ways;
    for (const int link : path_of(network, 0, 0)) {
        ways.latency += link_of(network, link).latency;
        ways.path_seconds_per_byte =
            std::max(ways.path_seconds_per_byte, 1 / link_of(network, link).bytes_per_second);
    }
    ways.injection_seconds_per_byte = ways.path_seconds_per_byte;
    return ways;
}

int stride(int hosts, int most) {
    return (hosts + most - 1) / most;
}

/// Adds the paths from one host to others; returns their number.
int add_ways(const Network& network, int from, Ways& sum, double& injection) {
    const auto hosts = static_cast<int>(network.hosts.size());
    std::set<int> first_links;
    std::vector<int> path;
    int count = 0;
    for (int to = 0; to < hosts; to += stride(hosts, 512)) {
        if (to == from)
            continue;
        path.clear();
        network.route(from, to, path);
        double slowest = 0;
        for (const int link : path) {
            sum.latency += link_of(network, link).latency;
            slowest = std::max(slowest, 1 / link_of(network, link).bytes_per_second);
        }
        sum.path_seconds_per_byte += slowest;
        first_links.insert(path.front());
        ++count;
    }
    double rate = 0;
    for (const int link : first_links)
        rate += link_of(network, link).bytes_per_second;
    injection = std::max(injection, rate);
    return count;
}

Ways between(const Network& network) {
    const auto hosts = static_cast<int>(network.hosts.size());
    Ways sum;
    double injection = 0;
    int count = 0;
    for (int from = 0; from < hosts; from += stride(hosts, 64))
        count += add_ways(network, from, sum, injection);
    return {sum.latency / count, sum.path_seconds_per_byte / count, 1 / injection};
}

/// A linear cost as a curve of two points.
machine::Curve line(Path path, Seconds empty, double seconds_per_byte) {
    constexpr Bytes large = Bytes{1} << 30;
    return {path,
            Layout::cc,
            Strategy::contiguous,
            {},
            {{0, 0, exactly(empty)},
             {large, large, exactly(empty + seconds_per_byte * static_cast<double>(large))}}};
}

/// Every message waits for its receiver: all sizes are above the last protocol switch.
machine::LinkCosts costs_of(machine::Link link, const Ways& ways, const Costs& costs) {
    const double sending = std::max(ways.injection_seconds_per_byte, costs.send_seconds_per_byte);
    const double receiving =
        std::max(ways.injection_seconds_per_byte, costs.receive_seconds_per_byte);
    const Seconds whole = costs.send_overhead + ways.latency + costs.receive_overhead;
    const double each_byte =
        costs.send_seconds_per_byte + ways.path_seconds_per_byte + costs.receive_seconds_per_byte;
    machine::LinkCosts made;
    made.link = link;
    made.curves = {line(Path::send, costs.send_overhead, sending),
                   line(Path::receive, costs.receive_overhead, receiving),
                   line(Path::full, whole, each_byte)};
    made.switches = {0};
    return made;
}

} // namespace

machine::Profile profile_of(const Platform& platform) {
    machine::Profile profile;
    profile.name = platform.name;
    profile.host = platform.name;
    profile.transport = "simulated";
    profile.cores = platform.network.cores;
    profile.origin.method = platform.source;
    if (platform.network.cores > 1) {
        profile.links.push_back(
            costs_of(machine::Link::same_node, within(platform.network), platform.costs));
    }
    if (platform.network.hosts.size() > 1) {
        profile.links.push_back(
            costs_of(machine::Link::other_node, between(platform.network), platform.costs));
    }
    machine::Work over;
    over.name = "over";
    over.seconds_per_element = exactly(platform.costs.seconds_per_application);
    profile.operators = {over};
    profile.copies = {{0, exactly(platform.costs.copy_seconds_per_byte), {}}};
    return profile;
}

machine::Wires wires_of(const Platform& platform) {
    const auto shared = std::make_shared<const Platform>(platform);
    return {static_cast<int>(platform.network.links.size()),
            [shared](int from, int to, std::vector<int>& path) {
                shared->network.route(from, to, path);
            },
            [shared](int link, double bytes, int messages) {
                const Network::Link& what = link_of(shared->network, link);
                const double kept = what.loses ? shared->loss.kept(messages) : 1;
                return bytes / (what.bytes_per_second * kept);
            },
            [shared](int link) { return link_of(shared->network, link).latency; }};
}

} // namespace sextant::simulate
