// SPDX-License-Identifier: BSD-3-Clause

#include "sextant/command/pages/plan_report.hpp"

#include "sextant/report/charts.hpp"
#include "sextant/report/run_comparison.hpp"
#include "sextant/report/text.hpp"

#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace sextant::command {

namespace {

/// Returns the alternatives of the plan; only the chosen pattern has a measured time.
report::Alternatives weighed(const distributed::MergingPlan& plan, Seconds took) {
    if (plan.alternatives.empty())
        return {"Candidates",
                "merging, measured",
                {{.name = plan.text(), .measured = report::TimeRange{took, took, took}}}};
    return alternatives_of(
        plan,
        fmt::format("merging: predicted by {} on {}; measured: this run", plan.model, plan.machine),
        took);
}

/// Returns the predicted and the measured timeline. An element of the predicted timeline is one
/// list entry; an element of the measured timeline is a whole list.
std::vector<report::Recording> recordings_of(const distributed::MergingPlan& plan,
                                             const GatheredMerging& merging) {
    return with_prediction({.name = plan.text(),
                            .ranks = static_cast<int>(merging.sent.size()),
                            .clocks = merging.clocks,
                            .aligned = merging.aligned,
                            .lent = merging.lent,
                            .trace = merging.trace},
                           plan.expected() ? &plan.timeline : nullptr);
}

report::Section sent_section(const std::vector<Bytes>& sent) {
    report::ColumnChart chart;
    chart.title = "Bytes that each rank sent";
    chart.subtitle = "lists of the contours or components at tile borders";
    chart.text = report::bytes_to_text;
    chart.kinds = {{"sent", {sent.begin(), sent.end()}}};
    for (std::size_t rank = 0; rank < sent.size(); ++rank)
        chart.places.push_back(fmt::format("rank {}", rank));
    const auto all = static_cast<double>(std::accumulate(sent.begin(), sent.end(), Bytes{0}));
    chart.figures = {{report::bytes_to_text(all), "sent in total"}};
    return {"Bytes sent", to_html(report::Figure{report::columns(chart), ""})};
}

} // namespace

GatheredMerging gather_merging(const Communicator& communicator, const TraceClocks& clocks,
                               const MergingTrace& own) {
    GatheredTrace gathered = clocks.gather(own.trace);
    return {std::move(gathered.trace), gathered.clocks, std::move(gathered.aligned),
            communicator.shares_memory(), communicator.all_gather(own.sent)};
}

std::vector<report::Section> merging_sections(const distributed::MergingPlan& plan,
                                              const GatheredMerging& merging) {
    if (merging.sent.size() < 2)
        return {};
    const std::vector<report::Recording> recordings = recordings_of(plan, merging);
    return {alternatives_section(weighed(plan, merging.trace.duration)),
            timeline_section(recordings), causes_section(recordings), sent_section(merging.sent)};
}

} // namespace sextant::command
