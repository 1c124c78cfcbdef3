// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/command/trace_clocks.hpp"
#include "sextant/distributed/list_exchange.hpp"
#include "sextant/distributed/merging_plan.hpp"
#include "sextant/report/page.hpp"

#include <optional>
#include <vector>

// What pages tell of the merging of tiles' lists.
namespace sextant::command {

/// What all ranks did, at rank 0; elsewhere nothing.
struct GatheredMerging {
    Trace trace;
    int clocks = 1;                   ///< how many clocks the times were taken on
    std::vector<ClockOffset> aligned; ///< how these were
    bool lent = false;                ///< whether messages were loans of memory that ranks share
    std::vector<Bytes> sent;          ///< by rank
};

/// Collective.
GatheredMerging gather_merging(const Communicator& communicator, const TraceClocks& clocks,
                               const MergingRecord& own);

/// What was weighed, when each rank did what, predicted above measured, and why it took as long;
/// what each sent. What says nothing of one rank alone is left out.
std::vector<report::Section> merging_sections(const distributed::MergingPlan& plan,
                                              const GatheredMerging& merging);

} // namespace sextant::command
