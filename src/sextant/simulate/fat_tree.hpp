// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/field.hpp"
#include "sextant/simulate/shapes.hpp"

namespace sextant::simulate {

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
