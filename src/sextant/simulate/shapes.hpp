// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/json.hpp"
#include "sextant/simulate/platform.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sextant::simulate {

/// The properties of all links of a network, unless the network's shape says otherwise.
struct Wire {
    double bytes_per_second = 0;
    Seconds latency = 0;
};

/// Reads `bytes_per_second` and `latency`. Throws InvalidFile.
Wire read_wire(const JsonField& field);

/// A network shape, as listed in the catalogue.
struct Shape {
    std::string_view name;
    std::string_view summary;
    /// Builds the network described by the `network` field of a platform file. Throws InvalidFile.
    Network (*build)(const JsonField& network, const Wire& wire);
    /// True if packets that hold links may wait for each other in a ring.
    bool has_rings = false;
};

std::span<const Shape> shapes();

// Limits, so that a wrong number in a file does not exhaust memory: the greatest numbers of hosts,
// of hosts along a dimension, of links, and of dimensions of a mesh or levels of a tree.
inline constexpr int most_hosts = 1 << 17, longest_extent = 1 << 12;
inline constexpr std::int64_t most_links = 1 << 21;
inline constexpr std::size_t most_dimensions = 32;

/// Host names n0, n1, ...
std::vector<std::string> numbered_hosts(int count);

/// Hosts on one non-blocking switch: messages compete only for the two cables at their ends.
///
/// Input     `hosts`, the number of hosts.
Network crossbar(const JsonField& network, const Wire& wire);

/// A mesh or torus of any number of dimensions, whose hosts are its routers. Messages travel along
/// the first dimension first, then the next. On a torus they take the shorter direction; if both
/// are equally long, hosts with even coordinates go upward and the others downward, so that both
/// directions are used.
///
/// Input     `extents`, along the first dimension first; hosts are numbered likewise. `injection`
///           (optional): bytes per second between a host and its router, in each direction.
Network mesh(const JsonField& network, const Wire& wire);
Network torus(const JsonField& network, const Wire& wire);

/// A parallel-port generalised fat-tree. A switch of level l has down[l] children and up[l + 1]
/// parents, each joined by that level's number of parallel cables. Routing is static and by
/// destination, as in InfiniBand: if several ports lead up, a table selects one.
///
/// Input     `down`, `up`, `cables`, from the hosts upward; {12, 12}, {1, 12}, {1, 1} is the 12-ary
///           2-tree. `hosts_a_leaf` (optional): hosts per leaf switch, for partly filled leaves.
///           `routing`: "d-mod-k": destination d leaves level l by port d / (up[1] ... up[l]) mod
///           ports, so shift permutations do not block; "min-hop": each switch assigns each
///           destination to the port with the fewest so far; destinations are processed in an order
///           drawn from `seed`; "first-port": always the first port, as with OpenSM's DOR and LASH
///           routing on a tree; "random": ports are drawn from `seed`; "table", for trees of two
///           levels: `spines` has one row per leaf switch, with the spine to each destination.
/// Source    Zahavi, Technion CCIT report 776, 2010; Hoefler, Schneider, Lumsdaine, Cluster 2008,
///           doi:10.1109/CLUSTR.2008.4663762
Network fat_tree(const JsonField& network, const Wire& wire);

/// A dragonfly: groups of routers, each router with some hosts. Any two routers of a group are
/// joined by a local link, or, if `routers` has several numbers, any two that differ in one
/// coordinate, as in Cray's Aries. Any two groups are joined by the same number of global cables.
///
/// The global ports of a group are numbered router by router; ports 0, 1, ... lead to the other
/// groups in ascending order, then again with the next cable, and so on (the "absolute"
/// arrangement).
///
/// Input     `groups`, `routers` (per group, along each dimension), `hosts` (per router), `local`
///           and `global`: bytes per second and latency of these links, and `global.cables` between
///           two groups. `routing`: "minimal": at most one global cable, the one with the fewest
///           links on the path; among equals, the destination selects. "valiant": minimally to a
///           third group and from there to the destination; the group is drawn from `seed` for each
///           pair of hosts. Within a group, both are minimal.
/// Source    Kim, Dally, Scott, Abts, ISCA 2008, doi:10.1109/ISCA.2008.19; Hastings et al., Cluster
///           2015, doi:10.1109/CLUSTER.2015.57 (arrangement)
Network dragonfly(const JsonField& network, const Wire& wire);

} // namespace sextant::simulate
