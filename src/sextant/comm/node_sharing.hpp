// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/record.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sextant {

/// The choice between shared memory and messages within a node, and the reason; the same on all
/// ranks.
struct NodeSharingChoice {
    bool shares = false;
    bool settled = true; ///< false if predictions decide (choose_sharing)
    std::string reason;  ///< empty if ranks are threads
};

Record record_of(const NodeSharingChoice& choice);

struct OfferedSharing {
    std::optional<Communicator> shared; ///< set if ranks can share memory within nodes
    NodeSharingChoice choice;
    std::string warning; ///< set if sharing is unavailable but was not required
};

/// Sets up memory sharing as requested: "auto", "on" or "off".
/// Throws    InvalidTask on all ranks if `requested` is "on" and sharing is unavailable, or "off"
///           and ranks are threads; its text begins with "shared_memory".
/// Collective.
OfferedSharing offer_sharing(const std::string& requested, const Communicator& communicator);

/// True if every rank can read the memory of all others, as threads can. Costs measured on threads
/// then apply.
bool reads_all(const Communicator& communicator, const std::vector<int>& nodes);

/// Returns the reason why messages replaced shared memory, from the lowest rank that had to use
/// messages; empty if no rank had to. For a single warning to the user. Collective.
std::string shortage_of(const Communicator& communicator);

/// A short description, such as "shared memory within nodes (requested)".
std::string within_nodes(const NodeSharingChoice& choice);

/// Chooses the transport that rank 0 predicts to be faster; shared memory if there is no
/// prediction.
/// Input     the predicted times of both plans; only those of rank 0 are used.
/// Collective.
NodeSharingChoice choose_sharing(const Communicator& communicator, std::optional<Seconds> shared,
                                 std::optional<Seconds> messages);

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
