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
    bool settled = true; ///< if false, predictions decide
    std::string reason;  ///< empty if ranks are threads
};

Record record_of(const NodeSharingChoice& choice);

struct OfferedSharing {
    std::optional<Communicator> shared; ///< same ranks, with memory shared within nodes
    NodeSharingChoice choice;
    std::string warning; ///< set if it is unavailable and was not required
};

/// Sets up memory sharing as requested: "auto", "on" or "off".
/// Throws    InvalidTask on all ranks if it is "on" and unavailable, or "off" on threads; its text
///           begins with "shared_memory".
/// Collective.
OfferedSharing offer_sharing(const std::string& requested, const Communicator& communicator);

/// True if every rank can read every other's memory, as threads do; costs measured on threads then
/// apply.
bool reads_all(const Communicator& communicator, const std::vector<int>& nodes);

/// The reason why messages replaced shared memory, from the first rank where they did; empty if
/// none. For a warning to the user, once. Collective.
std::string shortage_of(const Communicator& communicator);

/// A short text: "shared memory within nodes (requested)".
std::string within_nodes(const NodeSharingChoice& choice);

/// Chooses the transport that rank 0 predicts to be faster; shared memory if there is no
/// prediction.
/// Input     the predictions of both plans, at rank 0.
/// Collective.
NodeSharingChoice choose_sharing(const Communicator& communicator, std::optional<Seconds> shared,
                                 std::optional<Seconds> messages);

} // namespace sextant
