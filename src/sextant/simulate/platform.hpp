// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/machine/installation.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::simulate {

/// What ranks do themselves costs; what the network does is the platform's. What costs nothing here
/// takes no time.
struct Costs {
    /// A rank spends this on each message that it sends or receives, on one after another.
    Seconds send_overhead = 0, receive_overhead = 0;
    /// The same, for each byte of it.
    double send_seconds_per_byte = 0, receive_seconds_per_byte = 0;
    /// Combining one more operand, for each element.
    double seconds_per_application = 0;
    double copy_seconds_per_byte = 0;
    /// Of each kernel, by number: making one element. Those that are missing take no time.
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

inline constexpr std::array<std::string_view, 2> platform_endings{".json", ".xml"};
inline constexpr std::array<std::string_view, 1> order_endings{".txt"};

/// The platforms that Sextant ships, and orders of their hosts.
inline constexpr machine::SharedFolder platforms{"platform", "platforms", platform_endings};
inline constexpr machine::SharedFolder orders{"order", "platforms/orders", order_endings};

/// What a link keeps of its capacity when many flows share it: all of it for up to `flows`, then a
/// part that falls with each doubling. A fluid model has no such loss.
struct Loss {
    double flows = 1, per_doubling = 0;

    double kept(int sharing) const {
        const double over = sharing / flows;
        return over > 1 ? 1 / (1 + per_doubling * std::log2(over)) : 1;
    }
};

/// A machine to simulate on, described in our own words.
struct Platform {
    std::string name;
    std::string source; ///< where its numbers are from
    std::string fitted; ///< what was fitted to which measurement; "" for nothing
    Network network;
    Loss loss;
    Costs costs; ///< what its ranks' own work costs, where that is known
};

/// A platform from its JSON; docs/platform.md has the fields.
///
/// Throws    InvalidFile naming file, field, value and what was expected.
Platform parse_platform(std::string_view text, const std::string& path);

/// The same from a file of at most 64 MiB.
Platform read_platform(const std::string& path);

/// Whether a file of JSON is a platform, which has a source, or else the profile of a machine,
/// which has a method. Throws InvalidFile.
bool is_platform(const std::string& path);

/// Whether a file is to be read as our JSON; others are SimGrid's.
bool is_json(const std::string& path);

/// A host that takes ranks, and who says so: "rows.txt: line 3".
struct OrderedHost {
    std::string name;
    std::string named_by = "the order";
};

/// The hosts that a file names, one a line, each once; '#' begins a comment. Throws InvalidFile
/// naming file, line and value.
std::vector<OrderedHost> read_order(const std::string& path);

/// A host and how many ranks it takes.
struct Room {
    std::string host;
    int cores = 1;
};

/// Those of a network, in its order.
std::vector<Room> rooms_of(const Network& network);

/// The host of each rank, as an index into `rooms`: those named in `order` one after another, each
/// as often as it has cores; without an order, all of them as they come.
///
/// Throws    InvalidTask: an order that names what is not there, or a host twice; fewer cores than
///           ranks.
std::vector<int> place(std::span<const Room> rooms, std::span<const OrderedHost> order, int ranks,
                       const std::string& platform);

/// Sorts hosts as people number them: n2 before n10.
void sort_naturally(std::vector<Room>& rooms);

} // namespace sextant::simulate
