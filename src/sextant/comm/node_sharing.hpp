// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/record.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sextant {

/// The decision whether processes of a node share memory, and its reason; the same on all ranks.
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

/// True if every rank can read every other's memory, as threads do. Costs measured on threads then
/// apply.
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

} // namespace sextant
