// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/command/pages/trace_clocks.hpp"
#include "sextant/contours/merging_plan.hpp"
#include "sextant/planner/plan.hpp"
#include "sextant/report/alternatives_section.hpp"
#include "sextant/report/page.hpp"
#include "sextant/report/recording.hpp"
#include "sextant/tiles/list_exchange.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sextant::command {

/// Returns the alternatives of a plan of any family, for pages and tables.
/// Input     `compared`: states what was predicted and what was measured. `took`: the time of the
///           chosen alternative in this run; 0 if it was not measured. If there was a race, the
///           times of the race are shown instead.
template <class Configuration>
report::Alternatives alternatives_of(const planner::Plan<Configuration>& plan,
                                     std::string compared = {}, Seconds took = 0) {
    using planner::text_of;
    report::Alternatives shown{"Candidates", std::move(compared), {}};
    for (const planner::Alternative<Configuration>& each : plan.alternatives) {
        report::Alternative& one = shown.all.emplace_back();
        one.name = text_of(each.configuration);
        one.bound = each.bound;
        one.remark = each.remark;
        if (const auto& expected = each.expected)
            one.predicted = {expected->seconds, expected->low, expected->high};
        if (each.raced)
            one.measured = {*each.raced, *each.raced, *each.raced};
    }
    if (!shown.all.empty() && took > 0 && !shown.all.front().measured)
        shown.all.front().measured = {took, took, took};
    return shown;
}

/// Returns the predicted timeline of a run, if any, then the measured run, in drawing order.
inline std::vector<report::Recording> with_prediction(report::Recording run,
                                                      const Trace* predicted) {
    std::vector<report::Recording> all;
    if (predicted) {
        report::Recording& first = all.emplace_back(run);
        first.origin = report::Origin::predicted;
        first.clocks = 1;
        first.aligned.clear();
        first.trace = *predicted;
    }
    all.push_back(std::move(run));
    return all;
}

/// The recorded merging of all ranks, on rank 0; empty on other ranks.
struct GatheredMerging {
    Trace trace;
    int clocks = 1;                   ///< number of clocks that measured the times
    std::vector<ClockOffset> aligned; ///< how the clocks were aligned
    bool lent = false;       ///< true if messages were read from shared memory without a copy
    std::vector<Bytes> sent; ///< bytes sent by each rank
};

/// Gathers the merging of all ranks on rank 0. Collective.
GatheredMerging gather_merging(const Communicator& communicator, const TraceClocks& clocks,
                               const MergingTrace& own);

/// Returns page sections: the alternatives, the predicted and measured timelines, the causes of the
/// difference, and the bytes that each rank sent. Omits sections that are meaningless for one rank.
std::vector<report::Section> merging_sections(const distributed::MergingPlan& plan,
                                              const GatheredMerging& merging);

} // namespace sextant::command
