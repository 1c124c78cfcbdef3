// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/command/trace_clocks.hpp"
#include "sextant/distributed/list_exchange.hpp"
#include "sextant/distributed/merging_plan.hpp"
#include "sextant/report/page.hpp"

#include <optional>
#include <vector>

// Report sections about the merging of tiles' lists.
namespace sextant::command {

/// The merging of all ranks, as recorded; empty on ranks other than 0.
struct GatheredMerging {
    Trace trace;
    int clocks = 1;                   ///< number of clocks that measured the times
    std::vector<ClockOffset> aligned; ///< how the clocks were aligned
    bool lent = false;                ///< messages were read from shared memory without a copy
    std::vector<Bytes> sent;          ///< bytes sent by each rank
};

/// Collective.
GatheredMerging gather_merging(const Communicator& communicator, const TraceClocks& clocks,
                               const MergingTrace& own);

/// Sections: the alternatives, the predicted and measured timelines, the causes of the difference,
/// and the bytes that each rank sent. Sections that are meaningless for one rank are omitted.
std::vector<report::Section> merging_sections(const distributed::MergingPlan& plan,
                                              const GatheredMerging& merging);

} // namespace sextant::command
