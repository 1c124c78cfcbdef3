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
constexpr std::int64_t most_cores = std::int64_t{1} << 30;

/// The links from one core to another core of the same node.
using Within = std::function<void(int node, int from, int to, std::vector<int>& path)>;

/// Adds the links inside the nodes. Cores are numbered within their node.
Within add_insides(const JsonField& field, Network& network) {
    using Inside = Network::Inside;
    constexpr std::array<std::string_view, 3> names{"link", "crossbar", "sockets"};
    const auto given = field.find("inside");
    const auto inside = given ? given->one_of<Inside>(names) : Inside::link;
    const int cores = network.cores;
    const bool divided = inside == Inside::sockets;
    const int sockets = divided ? static_cast<int>(field.at("sockets").integer(1, cores)) : 1;
    const int each = inside == Inside::crossbar ? 2 * cores : sockets * sockets;
    const auto nodes = std::ssize(network.hosts);
    if (nodes * each + std::ssize(network.links) > most_links) {
        field.fail(fmt::format("has {} links on {} nodes, expected at most {} in all", each, nodes,
                               most_links));
    }
    const Wire wire = read_wire(field);
    const Wire joint = divided ? read_wire(field.at("between_sockets")) : wire;
    network.inside = inside;
    network.sockets = sockets;
    const int first = network.first_inside;
    const auto add = [&network](const std::string& name, const Wire& like, double latency) {
        network.links.push_back({name, like.bytes_per_second, latency, false});
    };
    for (const std::string& host : network.hosts) {
        for (int core = 0; inside == Inside::crossbar && core < cores; ++core) {
            add(fmt::format("{}-{}-out", host, core), wire, wire.latency / 2);
            add(fmt::format("{}-{}-in", host, core), wire, wire.latency / 2);
        }
        for (int a = 0; inside != Inside::crossbar && a < sockets; ++a) {
            for (int b = 0; b < sockets; ++b) {
                const Wire& like = a == b ? wire : joint;
                add(divided ? fmt::format("{}-socket{}-{}", host, a, b) : host + "-within", like,
                    like.latency);
            }
        }
    }
    if (inside == Inside::crossbar) {
        return [first, each](int node, int from, int to, std::vector<int>& path) {
            const int begin = first + node * each;
            path.insert(path.end(), {begin + 2 * from, begin + 2 * to + 1});
        };
    }
    return [=](int node, int from, int to, std::vector<int>& path) {
        const auto socket = [&](int core) { return part_of(core, cores, sockets); };
        path.push_back(first + node * each + socket(from) * sockets + socket(to));
    };
}

/// Turns the hosts of a network shape into ports of nodes. If messages are striped, each takes the
/// paths of all ports; every link then carries 1 / count of each message, so its speed and latency
/// are scaled.
Ports add_ports(const JsonField& field, Network& network) {
    constexpr std::array<std::string_view, 3> names{"modulo", "nearest", "striped"};
    Ports ports{.cores = network.cores};
    const auto given = field.find("ports");
    if (!given)
        return ports;
    const auto hosts = std::ssize(network.hosts);
    ports.count = static_cast<int>(given->integer(1, hosts));
    const std::int64_t nodes = hosts / ports.count;
    if (hosts % ports.count != 0)
        given->refuse(fmt::format("a divisor of the network's {} hosts", hosts));
    ports.choice = field.at("port_choice").one_of<Ports::Choice>(names);
    if (const auto stride = field.find("port_stride")) {
        ports.stride = static_cast<int>(stride->integer(1, nodes));
        if (nodes % ports.stride != 0)
            stride->refuse(fmt::format("a divisor of the number of nodes, {}", nodes));
    }
    network.hosts = numbered_hosts(static_cast<int>(nodes));
    for (Network::Link& link : network.links) {
        if (ports.choice != Ports::Choice::striped)
            break;
        link.bytes_per_second *= ports.count;
        link.latency /= ports.count;
    }
    return ports;
}

void add_nodes(const JsonField& field, Network& network) {
    const auto most = most_cores / std::ssize(network.hosts);
    network.cores = static_cast<int>(field.at("cores").integer(1, std::min(most, 1L << 16)));
    const Ports ports = network.ports = add_ports(field, network);
    const Within within = add_insides(field, network);
    network.route = [ports, within, cores = network.cores,
                     between = std::move(network.route)](int from, int to, std::vector<int>& path) {
        const int a = from / cores, b = to / cores;
        if (a == b)
            return within(a, from % cores, to % cores, path);
        if (ports.choice != Ports::Choice::striped) {
            return between(ports.host(a, ports.of(from % cores)),
                           ports.host(b, ports.of(to % cores)), path);
        }
        for (int port = 0; port < ports.count; ++port)
            between(ports.host(a, port), ports.host(b, port), path);
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
    network.first_inside = static_cast<int>(network.links.size());
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
        if (const auto node = whole.find("node");
            node && node->text_or("port_choice", "") == "striped")
            packet->refuse("a platform whose messages are not striped over ports");
        platform.wormhole_packet = packet->integer(1, 1 << 30);
    }
    if (const auto costs = whole.find("costs"))
        platform.costs = read_costs(*costs);
    return platform;
}

Platform read_platform(const std::string& path) {
    if (!is_json(path)) {
        throw InvalidFile(path, "is a SimGrid platform, whose routes only SimGrid can compute; "
                                "expected a platform in JSON (docs/platform.md)");
    }
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

std::vector<int> place_on_cores(const Network& network, std::span<const OrderedHost> order,
                                int ranks, const std::string& platform) {
    std::vector<int> cores = place(rooms_of(network), order, ranks, platform);
    int before = -1, count = 0;
    for (int& at : cores) {
        count = at == before ? count + 1 : 0;
        before = at;
        at = at * network.cores + count;
    }
    return cores;
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

/// Mean properties of some paths.
struct Paths {
    Seconds latency = 0;
    double path_seconds_per_byte = 0; ///< time per byte of the slowest link on the path
    double injection_seconds_per_byte =
        0; ///< time per byte of all first links of a sender together
};

const Network::Link& link_of(const Network& network, int link) {
    return network.links[static_cast<std::size_t>(link)];
}

int stride(int count, int most) {
    return (count + most - 1) / most;
}

/// The mean over the paths from some cores to others: `count` of each, `step` apart; each core
/// sends to all others. Cost: at most 64 times 512 paths.
Paths mean_of_paths(const Network& network, int count, int step) {
    Paths sum;
    double injection = 0;
    int paths = 0;
    std::vector<int> path;
    for (int from = 0; from < count; from += stride(count, 64)) {
        std::set<int> first_links;
        for (int to = 0; to < count; to += stride(count, 512)) {
            if (to == from)
                continue;
            path.clear();
            network.route(from * step, to * step, path);
            double slowest = 0;
            for (const int link : path) {
                const auto times = static_cast<double>(std::count(path.begin(), path.end(), link));
                sum.latency += link_of(network, link).latency;
                slowest = std::max(slowest, times / link_of(network, link).bytes_per_second);
            }
            sum.path_seconds_per_byte += slowest;
            first_links.insert(path.front());
            ++paths;
        }
        double rate = 0;
        for (const int link : first_links)
            rate += link_of(network, link).bytes_per_second;
        injection = std::max(injection, rate);
    }
    return {sum.latency / paths, sum.path_seconds_per_byte / paths, 1 / injection};
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
        profile.links.push_back(costs_of(machine::Link::same_node,
                                         mean_of_paths(platform.network, platform.network.cores, 1),
                                         platform.costs));
    }
    if (const auto hosts = static_cast<int>(platform.network.hosts.size()); hosts > 1) {
        profile.links.push_back(costs_of(
            machine::Link::other_node,
            mean_of_paths(platform.network, hosts, platform.network.cores), platform.costs));
    }
    machine::Work over;
    over.name = "over";
    over.seconds_per_element = exactly(platform.costs.seconds_per_application);
    profile.operators = {over};
    profile.copies = {{0, exactly(platform.costs.copy_seconds_per_byte), {}}};
    return profile;
}

machine::Wires wires_of(const Platform& platform, std::vector<int> cores) {
    const auto shared = std::make_shared<const Platform>(platform);
    return {static_cast<int>(platform.network.links.size()),
            [shared, cores = std::move(cores)](int from, int to, std::vector<int>& path) {
                const auto core = [&](int rank) {
                    return cores.empty() ? rank : cores[static_cast<std::size_t>(rank)];
                };
                shared->network.route(core(from), core(to), path);
            },
            [shared](int link, double bytes, int messages) {
                const Network::Link& what = link_of(shared->network, link);
                const double kept = what.loses ? shared->loss.kept(messages) : 1;
                return bytes / (what.bytes_per_second * kept);
            },
            [shared](int link) { return link_of(shared->network, link).latency; }};
}

} // namespace sextant::simulate
