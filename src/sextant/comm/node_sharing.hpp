// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sextant {

/// Whether they do, and why; the same on all ranks.
struct NodeSharingChoice {
    bool shares = false;
    bool settled = true; ///< else predictions are to tell
    std::string reason;  ///< empty where ranks are threads
};

struct OfferedSharing {
    std::optional<Communicator> shared; ///< the same ranks, with their nodes' memory shared
    NodeSharingChoice choice;
    std::string warning; ///< where it was not to be had, and not insisted on
};

/// What can be had of what is asked for: "auto", "on" or "off".
/// Throws    InvalidTask, on all ranks: asked for and not to be had, or forbidden to threads.
/// Collective.
OfferedSharing offer_sharing(const std::string& asked, const Communicator& communicator);

/// Whether every rank reads every other's memory, as threads do: then what was measured of threads
/// is what it costs.
bool reads_all(const Communicator& communicator, const std::vector<int>& nodes);

/// Why messages replace memory that was to be shared, of the first rank of which they do; empty
/// where none does. Somebody should know, once.
/// Collective.
std::string shortage_of(const Communicator& communicator);

/// "shared memory within nodes (asked for)".
std::string within_nodes(const NodeSharingChoice& choice);

/// What rank 0 expects to be faster; shared memory where it expects nothing.
/// Input     what plans say of both, at rank 0.
/// Collective.
NodeSharingChoice choose_sharing(const Communicator& communicator, std::optional<Seconds> shared,
                                 std::optional<Seconds> messages);

} // namespace sextant
