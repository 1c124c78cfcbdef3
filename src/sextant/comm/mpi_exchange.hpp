// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/transport.hpp"

#include <memory>
#include <vector>

#include <mpi.h>

namespace sextant {

/// How messages travel over a communicator of ours.
struct MpiConditions {
    bool crowded = false; ///< more ranks on this node than cores
    int most_tag = 32767; ///< MPI_TAG_UB
    /// Set when a run ends with messages under way, which MPI would deliver to the next
    /// communicator that it gives the same context.
    bool* has_strays = nullptr;
};

/// Messages over MPI: non-blocking calls only.
/// Throws    InvalidTask where a message needs a tag that this MPI has not.
std::unique_ptr<Exchange> open_over_mpi(MPI_Comm comm, const MpiConditions& conditions,
                                        std::vector<Message> messages);

} // namespace sextant
