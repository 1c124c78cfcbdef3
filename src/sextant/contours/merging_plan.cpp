// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/contours/merging_plan.hpp"

#include "sextant/calibrate/planner_here.hpp"
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/contour/merging.hpp"
#include "sextant/planner/plan_file.hpp"
#include "sextant/tiles/list_exchange.hpp"

#include <fmt/format.h>

namespace sextant::distributed {

namespace {

constexpr std::string_view usual_pattern = "logp-lev-quad";

/// Returns the length of all tiles' borders in pixels, excluding the image's border.
Elements border_of(const Grid& grid, const contour::Pattern& pattern) {
    const contour::Order order(grid, pattern.stages(grid));
    Elements length = 0;
    for (int i = 0; i < grid.ranks(); ++i)
        length += contour::border_length(order, {i, i + 1});
    return length;
}

MergingPlan stated(std::string_view pattern, std::string reason) {
    return {{.configuration = &contour::find(pattern), .reason = std::move(reason)}};
}

/// Returns the plan with the fastest pattern, or with the default pattern if no model can predict
/// the patterns.
MergingPlan fastest(const Grid& grid, double density, const planner::Setting& setting) {
    if (grid.ranks() == 1)
        return stated(usual_pattern, "nothing to merge: there is only one rank");
    try {
        return plan_merging(grid, density, setting);
    } catch (const model::CannotExpress& why) {
        return stated(usual_pattern,
                      fmt::format("chosen by rule, without a prediction: {}", why.what()));
    }
}

} // namespace

void MergingOptions::check() const {
    if (pattern != "auto")
        contour::find(pattern);
}

Record record_of(MergingOptions& options) {
    Record record;
    record.add("pattern", options.pattern, "NAME",
               "order in which tiles are merged (sextant list algorithms)");
    planner::declare_planning(record, options.machine, options.probing);
    record.add("timeline", options.timeline, "predict and record a timeline of each rank");
    return record;
}

Effects effects_of(const MergingOptions& options) {
    Effects effects = planner::effects_of_planning(options.machine);
    effects.push_back({{"machine", "probe"}, "{pattern} specifies how tiles are merged", [&] {
                           return options.pattern == "auto";
                       }});
    return effects;
}

MergingPlan plan_merging(const Grid& grid, double density, const planner::Setting& setting) {
    std::vector<const contour::Pattern*> patterns;
    std::vector<Candidate> candidates;
    for (const contour::Pattern& pattern : contour::catalogue()) {
        patterns.push_back(&pattern);
        const auto order = std::make_shared<contour::Order>(grid, pattern.stages(grid));
        const contour::ListSizes sizes = contour::sizes_by_border(order, density);
        candidates.push_back({std::string(pattern.name),
                              "",
                              grid.ranks(),
                              [&pattern, grid, sizes](int rank) {
                                  return contour::sized_program(pattern, grid, rank, sizes);
                              },
                              {0}});
    }
    planner::Choice choice = planner::choose(candidates, setting);
    Trace timeline;
    if (auto& predicted = choice.ranking.front().predicted)
        timeline = std::move(predicted->timeline);
    return {planner::plan_of<const contour::Pattern*>(std::move(choice), patterns,
                                                      setting.machine.name),
            density, std::move(timeline)};
}

MergingPlan plan_merging(const Communicator& communicator, const MergingOptions& options,
                         const Grid& grid, Elements entries, Bytes entry) {
    const auto sum = static_cast<double>(sum_over_ranks(communicator, entries));
    const std::vector<int> nodes = nodes_of(communicator);
    planner::DefaultPlanner usual;
    const bool automatic = options.pattern == "auto";
    if (automatic)
        usual =
            calibrate::planner_here(communicator, nodes, options.machine, options.probing,
                                    calibrate::work_on(static_cast<double>(grid.elements()) * 16));
    MergingPlan plan;
    std::size_t chosen = 0;
    agree(communicator, [&] {
        if (communicator.rank() > 0)
            return;
        const Elements border = border_of(grid, contour::catalogue()[0]);
        const double density = border > 0 ? sum / static_cast<double>(border) : 0;
        plan =
            automatic
                ? fastest(grid, density,
                          {.machine = usual.planner->machine(),
                           .element_size = entry,
                           .nodes = nodes,
                           .within_node = communicator.shares_memory() ? machine::Link::same_process
                                                                       : machine::Link::same_node,
                           .timeline = options.timeline})
                : stated(options.pattern, "requested");
        plan.density = density;
        chosen = static_cast<std::size_t>(plan.configuration - contour::catalogue().data());
    });
    plan.configuration = &contour::catalogue()[communicator.all_gather(chosen)[0]];
    return plan;
}

Json json_of(const MergingPlan& plan) {
    Json json{{"pattern", plan.configuration->name},
              {"reason", plan.reason},
              {"machine", plan.machine},
              {"model", plan.model},
              {"density", plan.density},
              {"alternatives", Json::array()}};
    planner::add_plan(json, plan,
                      [](Json& one, const contour::Pattern* pattern) {
                          one.set("pattern", pattern->name);
                          one.set("seconds", Json());
                      },
                      {.list = "alternatives", .ranges = false, .remarks = false});
    return json;
}

} // namespace sextant::distributed
