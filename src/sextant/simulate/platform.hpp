// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/machine/installation.hpp"
#include "sextant/machine/profile.hpp"
#include "sextant/machine/topology.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::simulate {

/// The costs of a rank's own work; network costs belong to the platform. Work without a cost here
/// takes no time.
struct Costs {
    /// Time that a rank spends on each message it sends or receives, one message at a time.
    Seconds send_overhead = 0, receive_overhead = 0;
    /// Additional time per byte.
    double send_seconds_per_byte = 0, receive_seconds_per_byte = 0;
    /// Time to combine one more operand, per element.
    double seconds_per_application = 0;
    double copy_seconds_per_byte = 0;
    /// Additional time per byte to pack a message that is not contiguous in memory, or to unpack
    /// it.
    double pack_seconds_per_byte = 0;
    /// True if a rank does not hand over a message while another of its messages is in the network.
    bool waits_while_sending = false;
    /// By kernel number: time per result. Missing kernels take no time.
    std::vector<double> seconds_per_computed_element = {};

    Seconds sending(Bytes bytes) const {
        return send_overhead + send_seconds_per_byte * static_cast<double>(bytes);
    }
    Seconds receiving(Bytes bytes) const {
        return receive_overhead + receive_seconds_per_byte * static_cast<double>(bytes);
    }
    Seconds computing(int kernel, Elements elements) const {
        const auto k = static_cast<std::size_t>(kernel);
        const bool known = k < seconds_per_computed_element.size();
        return known ? seconds_per_computed_element[k] * static_cast<double>(elements) : 0;
    }
    bool operator==(const Costs&) const = default;
};

/// The part that item i belongs to if `count` items are divided into `parts` consecutive parts.
inline int part_of(int i, int count, int parts) {
    return static_cast<int>(std::int64_t{i} * parts / count);
}

/// How the cores of a node use its ports into the network.
struct Ports {
    enum class Choice { modulo, nearest, striped };

    int count = 1, stride = 1, cores = 1;
    Choice choice = Choice::modulo;

    int of(int core) const {
        return choice == Choice::modulo ? core % count : part_of(core, cores, count);
    }
    /// The host of the network shape that a port of a node is.
    int host(int node, int port) const {
        return (node / stride * count + port) * stride + node % stride;
    }
};

/// A network as data: hosts, one-way links, and one path between each pair of cores. Shape builders
/// create it; simulators run on it.
struct Network {
    struct Link {
        std::string name;
        double bytes_per_second = 0;
        Seconds latency = 0;
        bool loses = false; ///< loses capacity when shared, see Platform::loss
        /// Vertices of the shape; -1 for a link that leads nowhere, and inside hosts.
        std::array<int, 2> ends{-1, -1};
    };

    std::vector<std::string> hosts;
    int cores = 1; ///< cores per host
    std::vector<Link> links;
    /// Appends the links from one core to another, in the order of travel. Core c of host h has the
    /// number h * cores + c. A link that several stripes of a message use is listed for each.
    std::function<void(int from, int to, std::vector<int>& path)> route;

    /// The arrangement of the shape's vertices, which are its hosts 0, 1, ..., and then its
    /// switches.
    enum class Kind { levels, groups, grid };
    Kind kind = Kind::levels;
    /// levels: vertices of each level, from the hosts upward. groups: groups, routers per group,
    /// hosts per router. grid: hosts along each dimension.
    std::vector<int> extents;
    int first_inside = 0; ///< the first link inside a host, after those of the shape
    /// What joins the cores of a host: one link, a switch, or sockets with a link each.
    enum class Inside { link, crossbar, sockets };
    Inside inside = Inside::link;
    int sockets = 1;
    Ports ports;
};

/// The path between two cores.
inline std::vector<int> path_of(const Network& network, int from, int to) {
    std::vector<int> path;
    network.route(from, to, path);
    return path;
}

inline constexpr std::array<std::string_view, 2> platform_endings{".json", ".xml"};
inline constexpr std::array<std::string_view, 1> order_endings{".txt"};

/// The platforms shipped with Sextant, and orders of their hosts.
inline constexpr machine::SharedFolder platforms{"platform", "platforms", platform_endings};
inline constexpr machine::SharedFolder orders{"order", "platforms/orders", order_endings};

/// The fraction of its capacity that a link keeps when many flows share it: 1 for up to `flows`
/// flows, then less with each doubling. A fluid model has no such loss.
struct Loss {
    double flows = 1, per_doubling = 0;

    double kept(int sharing) const {
        const double over = sharing / flows;
        return over > 1 ? 1 / (1 + per_doubling * std::log2(over)) : 1;
    }
};

/// A machine to simulate, described in Sextant's own format.
struct Platform {
    std::string name;
    std::string source; ///< source of the figures
    std::string fitted; ///< fitted figures and the measurement; "" if no figure was fitted
    Network network;
    Loss loss;
    /// The largest packet in bytes if switching is by wormholes (Wormholes); 0: messages share
    /// links.
    Bytes wormhole_packet = 0;
    Costs costs; ///< costs of its ranks' own work, if known
};

/// Parses the JSON of a platform; docs/platform.md describes the fields.
///
/// Throws    InvalidFile naming file, field, value and what was expected.
Platform parse_platform(std::string_view text, const std::string& path);

/// Reads a platform from a file of at most 64 MiB.
Platform read_platform(const std::string& path);

/// True if a JSON file is a platform (it has a source), false if it is a machine profile (it has a
/// method). Throws InvalidFile if it is neither.
bool is_platform(const std::string& path);

/// True if the name of a platform file ends in .json; other platform files are SimGrid's XML.
bool is_json(const std::string& path);

/// A host for ranks, and where the user named it, for example "rows.txt: line 3".
struct OrderedHost {
    std::string name;
    std::string named_by = "the order";
};

/// Reads the hosts named in a file, one per line, each once; '#' begins a comment. Throws
/// InvalidFile naming file, line and value.
std::vector<OrderedHost> read_order(const std::string& path);

/// A host and the number of ranks that it can run.
struct HostSlots {
    std::string host;
    int cores = 1;
};

/// The hosts of a network, in the network's order.
std::vector<HostSlots> rooms_of(const Network& network);

/// The host of each rank, as an index into `rooms`. Fills the hosts in `order` one after another,
/// each with as many ranks as it has cores; without an order, all hosts in sequence.
///
/// Throws    InvalidTask if the order names an unknown host or a host twice, or if there are fewer
///           cores than ranks.
std::vector<int> place(std::span<const HostSlots> rooms, std::span<const OrderedHost> order,
                       int ranks, const std::string& platform);

/// The core of each rank, numbered as in Network::route. Fills hosts as `place` does.
std::vector<int> place_on_cores(const Network& network, std::span<const OrderedHost> order,
                                int ranks, const std::string& platform);

/// Sorts hosts in natural order: n2 before n10.
void sort_naturally(std::vector<HostSlots>& rooms);

/// Derives a machine profile from a platform: the costs of messages without contention, between
/// hosts and within one host, of the operator "over" on "f32", and of copies. A core sends to many
/// others at the rate of all its links together; every path gets the mean latency and speed of all
/// paths.
///
/// Cost      the paths from at most 64 cores to at most 512, within a host and between hosts.
/// Deterministic.
machine::Profile profile_of(const Platform& platform);

/// The links of a platform between ranks on these cores (place_on_cores; empty: rank i is on core
/// i), with their capacities, including the capacity lost when flows share a link.
machine::Wires wires_of(const Platform& platform, std::vector<int> cores = {});

} // namespace sextant::simulate
