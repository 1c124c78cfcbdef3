// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/json_field.hpp"
#include "sextant/simulate/platform.hpp"

#include <span>
#include <string_view>

namespace sextant::simulate {

/// What all links of a network are like, unless its shape says otherwise.
struct Wire {
    double bytes_per_second = 0;
    Seconds latency = 0;
};

/// A shape of network: one file of code and one row of the catalogue.
struct Shape {
    std::string_view name;
    std::string_view summary;
    /// The network that the `network` of a platform file describes. Throws InvalidFile.
    Network (*build)(const machine::Field& network, const Wire& wire);
};

std::span<const Shape> shapes();

/// At most this many hosts, so that a wrong number in a file is an error and not a full memory.
inline constexpr int most_hosts = 1 << 17;

/// Hosts n0, n1, ...
std::vector<std::string> numbered_hosts(int count);

/// Hosts on one switch that never blocks: a message meets others only on the two cables at its
/// ends.
///
/// Input     `hosts`, how many.
Network crossbar(const machine::Field& network, const Wire& wire);

/// A mesh or torus of any number of dimensions, whose hosts are its routers. Messages go along the
/// first dimension first, then the next; round a torus the shorter way, and where both are equally
/// long, hosts of even coordinate upward and the others downward, so that both ways are used.
///
/// Input     `extents`, along the first dimension first; hosts are numbered likewise.
///           `injection` (optional): bytes per second between a host and its router, each way.
Network mesh(const machine::Field& network, const Wire& wire);
Network torus(const machine::Field& network, const Wire& wire);

/// A parallel-port generalised fat-tree. A switch of level l has down[l] children and up[l + 1]
/// parents, each joined by that level's number of parallel cables. Routing is static and by
/// destination, as InfiniBand's: where a message may go up by several ports, a table says which.
///
/// Input     `down`, `up`, `cables`, from the hosts upward; {12, 12}, {1, 12}, {1, 1} is the 12-ary
///           2-tree. `hosts_a_leaf` (optional): leaf switches that are partly filled. `routing`:
///           "d-mod-k"   destination d leaves level l by port d / (up[1] ... up[l]) mod ports, and
///                       shifts do not block;
///           "min-hop"   each switch deals the destinations, as they come, to the port with the
///                       fewest; they come in an order drawn from `seed`;
///           "random"    drawn from `seed`;
///           "table"     of a tree of two levels: `spines`, one row a leaf switch, the spine to
///                       each destination.
/// Source    Zahavi, Technion CCIT report 776, 2010; Hoefler, Schneider, Lumsdaine, Cluster 2008,
///           doi:10.1109/CLUSTR.2008.4663762
Network fat_tree(const machine::Field& network, const Wire& wire);

} // namespace sextant::simulate
