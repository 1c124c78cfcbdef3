// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/simulate/platform.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/text.hpp"
#include "sextant/simulate/shapes.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace sextant::simulate {

namespace {

constexpr Bytes most_bytes = Bytes{64} << 20;

/// Adds a link per node for messages within the node; all ranks of the node share this link.
void add_nodes(const JsonField& node, Network& network) {
    network.cores = static_cast<int>(node.at("cores").integer(1, 1 << 16));
    const Wire wire = read_wire(node);
    const auto first = static_cast<int>(network.links.size());
    for (const std::string& host : network.hosts)
        network.links.push_back({host + "-within", wire.bytes_per_second, wire.latency, false});
    network.route = [first, between = std::move(network.route)](int from, int to,
                                                                std::vector<int>& path) {
        if (from == to)
            path.push_back(first + from);
        else
            between(from, to, path);
    };
}

/// The row of the network's shape in shapes().
const Shape& shape_of(const JsonField& whole) {
    std::vector<std::string_view> names;
    for (const Shape& shape : shapes())
        names.push_back(shape.name);
    return shapes()[whole.at("network").at("shape").one_of<std::size_t>(names)];
}

Network read_network(const JsonField& whole) {
    Network network = shape_of(whole).build(whole.at("network"), read_wire(whole.at("links")));
    if (const auto node = whole.find("node"))
        add_nodes(*node, network);
    return network;
}

Costs read_costs(const JsonField& field) {
    const auto number = [&](const char* name) {
        const auto found = field.find(name);
        return found ? found->number(0, JsonField::most) : 0;
    };
    Costs costs;
    costs.send_overhead = number("send_overhead");
    costs.receive_overhead = number("receive_overhead");
    costs.send_seconds_per_byte = number("send_seconds_per_byte");
    costs.receive_seconds_per_byte = number("receive_seconds_per_byte");
    costs.copy_seconds_per_byte = number("copy_seconds_per_byte");
    costs.pack_seconds_per_byte = number("pack_seconds_per_byte");
    costs.seconds_per_application = number("seconds_per_application");
    if (const auto waits = field.find("waits_while_sending"))
        costs.waits_while_sending = waits->boolean();
    return costs;
}

} // namespace

Platform parse_platform(std::string_view text, const std::string& path) {
    const JsonField whole = JsonField::parse(text, path);
    whole.at("version").require_version(1);
    Platform platform;
    platform.name = whole.at("name").text();
    platform.source = whole.at("source").text();
    platform.fitted = whole.text_or("fitted", "");
    platform.network = read_network(whole);
    if (const auto loss = whole.at("links").find("loss")) {
        platform.loss = {loss->at("flows").number(1, most_hosts),
                         loss->at("per_doubling").number(0, 100)};
    }
    if (const auto packet = whole.at("links").find("wormhole_packet")) {
        if (shape_of(whole).has_rings)
            packet->refuse("a network without rings, in which packets cannot wait for each other");
        platform.wormhole_packet = packet->integer(1, 1 << 30);
    }
    if (const auto costs = whole.find("costs"))
        platform.costs = read_costs(*costs);
    return platform;
}

Platform read_platform(const std::string& path) {
    return parse_platform(read_text(path, most_bytes), path);
}

bool is_platform(const std::string& path) {
    return JsonField::parse(read_text(path, most_bytes), path).find("source").has_value();
}

bool is_json(const std::string& path) {
    return path.ends_with(".json");
}

std::vector<OrderedHost> read_order(const std::string& path) {
    std::istringstream lines(read_text(path, most_bytes));
    std::vector<OrderedHost> order;
    std::set<std::string> seen;
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
        std::istringstream words(line.substr(0, line.find('#')));
        std::string host, more;
        if (!(words >> host))
            continue;
        if (words >> more)
            throw InvalidFile(path,
                              fmt::format("line {} has '{}' after '{}', expected one host per line",
                                          number, more, host));
        if (!seen.insert(host).second)
            throw InvalidFile(path, fmt::format("line {} lists '{}' again, expected each host once",
                                                number, host));
        order.push_back({host, fmt::format("{}: line {}", path, number)});
    }
    if (order.empty())
        throw InvalidFile(path, "lists no host");
    return order;
}

namespace {

std::vector<int> chosen(std::span<const HostSlots> rooms, std::span<const OrderedHost> order,
                        const std::string& platform) {
    std::vector<int> hosts(rooms.size());
    std::iota(hosts.begin(), hosts.end(), 0);
    if (order.empty())
        return hosts;
    std::unordered_map<std::string, int> unused;
    for (const int host : hosts)
        unused.emplace(rooms[static_cast<std::size_t>(host)].host, host);
    hosts.clear();
    for (const auto& [name, named_by] : order) {
        const auto found = unused.find(name);
        if (found == unused.end())
            throw InvalidTask(
                fmt::format("{} names '{}', expected a host of {}", named_by, name, platform));
        if (found->second < 0)
            throw InvalidTask(
                fmt::format("{} lists '{}' again, expected each host once", named_by, name));
        hosts.push_back(std::exchange(found->second, -1));
    }
    return hosts;
}

/// A sort key for names: the prefix, then the number at the end.
std::tuple<std::string, std::string::size_type, std::string> natural(const std::string& name) {
    const auto end = name.find_last_not_of("0123456789") + 1;
    const std::string digits = name.substr(end);
    const auto significant = std::min(digits.find_first_not_of('0'), digits.size());
    return {name.substr(0, end), digits.size() - significant, digits.substr(significant)};
}

} // namespace

std::vector<HostSlots> rooms_of(const Network& network) {
    std::vector<HostSlots> rooms;
    for (const std::string& host : network.hosts)
        rooms.push_back({host, network.cores});
    return rooms;
}

std::vector<int> place(std::span<const HostSlots> rooms, std::span<const OrderedHost> order,
                       int ranks, const std::string& platform) {
    std::vector<int> host_of;
    std::int64_t all_cores = 0;
    const std::vector<int> hosts = chosen(rooms, order, platform);
    for (const int host : hosts) {
        const int cores = rooms[static_cast<std::size_t>(host)].cores;
        const std::int64_t left = ranks - std::ssize(host_of);
        host_of.insert(host_of.end(), static_cast<std::size_t>(std::min<std::int64_t>(cores, left)),
                       host);
        all_cores += cores;
    }
    if (all_cores < ranks) {
        throw InvalidTask(fmt::format("{} ranks, but {} has {} cores on {} hosts{}", ranks,
                                      platform, all_cores, hosts.size(),
                                      order.empty() ? "" : " listed in the order file"));
    }
    return host_of;
}

void sort_naturally(std::vector<HostSlots>& rooms) {
    std::sort(rooms.begin(), rooms.end(), [](const HostSlots& a, const HostSlots& b) {
        return std::pair(natural(a.host), a.host) < std::pair(natural(b.host), b.host);
    });
}

namespace {

using machine::exactly;
using machine::Layout;
using machine::Path;
using machine::Strategy;

/// Mean properties of the paths between hosts.
struct Paths {
    Seconds latency = 0;
    double path_seconds_per_byte = 0;      ///< time per byte of the slowest link on the path
    double injection_seconds_per_byte = 0; ///< time per byte of all links of a host together
};

const Network::Link& link_of(const Network& network, int link) {
    return network.links[static_cast<std::size_t>(link)];
}

Paths within(const Network& network) {
    Paths paths;
    for (const int link : path_of(network, 0, 0)) {
        paths.latency += link_of(network, link).latency;
        paths.path_seconds_per_byte =
            std::max(paths.path_seconds_per_byte, 1 / link_of(network, link).bytes_per_second);
    }
    paths.injection_seconds_per_byte = paths.path_seconds_per_byte;
    return paths;
}

int stride(int hosts, int most) {
    return (hosts + most - 1) / most;
}

/// Adds the properties of the paths from one host to others to `sum`; returns the number of paths.
int add_paths(const Network& network, int from, Paths& sum, double& injection) {
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

Paths between(const Network& network) {
    const auto hosts = static_cast<int>(network.hosts.size());
    Paths sum;
    double injection = 0;
    int count = 0;
    for (int from = 0; from < hosts; from += stride(hosts, 64))
        count += add_paths(network, from, sum, injection);
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
machine::LinkCosts costs_of(machine::Link link, const Paths& paths, const Costs& costs) {
    const double sending = std::max(paths.injection_seconds_per_byte, costs.send_seconds_per_byte);
    const double receiving =
        std::max(paths.injection_seconds_per_byte, costs.receive_seconds_per_byte);
    const Seconds whole = costs.send_overhead + paths.latency + costs.receive_overhead;
    const double each_byte =
        costs.send_seconds_per_byte + paths.path_seconds_per_byte + costs.receive_seconds_per_byte;
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
