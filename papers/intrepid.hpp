// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/simulate/platform.hpp"

#include <array>
#include <string>
#include <vector>

namespace sextant::papers {

/// The extents of a grid of nodes along X, Y and Z.
using Extents = std::array<int, 3>;

std::string text(const Extents& extents);

/// Nodes of Intrepid, the Blue Gene/P of the Radix-k paper, that are allocated together.
struct IntrepidPartition {
    Extents extents{};
    bool torus = true; ///< if false, a mesh, because its links do not wrap around

    int nodes() const { return extents[0] * extents[1] * extents[2]; }
};

/// The smallest partition with at least `nodes` nodes. Partitions of less than 512 nodes are
/// meshes.
///
/// Requires  at most 40,960 nodes (std::invalid_argument).
/// Source    the shapes in GPAW's generator of mappings for this machine ("tested on BG/P at
///           Argonne National Laboratory"), gitlab.com/gpaw/gpaw. The shape for 32 nodes is
///           assumed.
IntrepidPartition intrepid_partition(int nodes);

/// The network and costs of a partition, with the values of the shipped Blue Gene/P platforms.
/// `injection`: bytes per second between a node and its router; 0 for no limit.
simulate::Platform intrepid(const IntrepidPartition& partition, double injection = 0);

/// The same platform with half-duplex links: both directions share one capacity.
///
/// Requires  a platform made by `intrepid` for these extents without limited injection.
simulate::Platform half_duplex(simulate::Platform platform, const Extents& extents);

/// The hosts of a partition in the order of ranks that fill one block of nodes after another.
/// Blocks, and nodes within a block, are in XYZ order. With `nested`, the nodes of a block are
/// filled in blocks of half the extents, and so on.
std::vector<simulate::OrderedHost> in_blocks(const Extents& extents, const Extents& block,
                                             bool nested = false);

} // namespace sextant::papers
