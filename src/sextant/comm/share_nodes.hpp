// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"

#include <string>

namespace sextant {

/// Limits for sharing memory within nodes.
struct NodeSharing {
    /// The number of successive ranks of a host that count as a node; 0: all of them.
    int ranks_per_node = 0;
    /// The most shared memory that each rank may allocate, in bytes; 0: the size of the machine's
    /// memory. Memory is used only when it is touched.
    Bytes most = 0;
};

struct SharedNodes {
    Communicator communicator;
    /// The reason why messages are used within nodes; empty if memory is shared. The same on all
    /// ranks.
    std::string why_not;
};

/// Returns a communicator over the same ranks, in which the ranks of a node read each other's
/// memory. Data in the communicator's memory (`Communicator::memory`) is not copied within a node;
/// other data is copied once, by its owner. Messages between nodes are unaffected, and results are
/// bitwise identical. If processes cannot create memory that others map, MPI's shared memory is
/// used (MPI_Win_allocate_shared). If shared memory runs out later, messages are used
/// (`Communicator::shortage`).
///
/// Requires  a communicator with no run or collective call in progress. The new communicator sends
///           its messages through the original one: use only one of the two at a time.
/// Collective.
SharedNodes share_nodes(const Communicator& communicator, const NodeSharing& sharing = {});

} // namespace sextant
