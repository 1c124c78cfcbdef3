// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"

#include <string>

namespace sextant {

struct NodeSharing {
    /// So many successive ranks of a host count as a node; 0: all of them.
    int ranks_per_node = 0;
    /// What each rank may have in shared memory at once; 0: as much as the machine has. It is taken
    /// only as it is touched.
    Bytes most = 0;
};

struct SharedNodes {
    Communicator communicator;
    /// Why messages are used within nodes as between them, where that is so; the same on all ranks.
    std::string why_not;
};

/// A communicator of the same ranks on which those of a node read each other's memory: nothing is
/// copied between them that lies in memory of the communicator (`Communicator::memory`), what lies
/// elsewhere is copied once, by its owner. Messages between nodes go as before; bits are the same.
/// Where processes may not make memory that others map, it is MPI's (MPI_Win_allocate_shared).
/// Memory that is not to be had later is replaced by messages (`Communicator::shortage`).
///
/// Requires  a communicator whose runs and collective calls are not under way. It takes over its
///           messages: use one of the two at a time.
/// Collective.
SharedNodes share_nodes(const Communicator& communicator, const NodeSharing& sharing = {});

} // namespace sextant
