// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/filter_plan.hpp"

#include "sextant/core/error.hpp"
#include "sextant/filtering/way.hpp"
#include "sextant/format/source_file.hpp"
#include "sextant/halo/stencil.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::operation {

namespace {

halo::Stencil stencil_of(const FilterTask& task, const FilterPlan::Alternative& grid) {
    return distributed::stencil_of(
        {task.image, 0, task.image.height, grid.columns, grid.rows_of_tiles}, task.filter,
        task.element, true, task.ranks > 1);
}

std::vector<FilterPlan::Alternative> grids_of(int ranks) {
    std::vector<FilterPlan::Alternative> grids;
    for (const filtering::Way& way : filtering::grids_of(ranks))
        grids.push_back({way.columns, way.rows, {}, {}});
    return grids;
}

/// What all ranks hold for windows of so many rows: the window with the rows around it, the pixels
/// around tiles, the planes, and at rank 0 those of all.
Bytes memory_of(const FilterPlan& plan, const FilterTask& task, Elements rows) {
    const halo::Stencil stencil = distributed::stencil_of(
        {task.image, (task.image.height - rows) / 2, rows, plan.columns, plan.rows_of_tiles},
        task.filter, task.element, true);
    Bytes bytes = 0;
    for (int rank = 0; rank < task.ranks; ++rank) {
        bytes += halo::clipped_tile(stencil.grid, rank).elements() * task.element.size;
        bytes += stencil.planes * halo::kept_tile(stencil, rank).elements() * gray_f32.size;
    }
    return bytes;
}

} // namespace

FilterPlan plan_filter(const FilterTask& task, const planner::Setting& setting) {
    const std::vector<FilterPlan::Alternative> grids = grids_of(task.ranks);
    std::vector<Candidate> candidates;
    for (const FilterPlan::Alternative& grid : grids) {
        const halo::Stencil stencil = stencil_of(task, grid);
        candidates.push_back({"filter",
                              fmt::format("{}x{} tiles", grid.columns, grid.rows_of_tiles),
                              task.ranks,
                              [stencil](int rank) { return halo::stencil(stencil, rank); },
                              {0}});
    }
    const planner::Choice choice = planner::choose(candidates, setting);
    FilterPlan plan;
    for (const planner::Weighed& weighed : choice.ranking) {
        plan.alternatives.push_back(grids[weighed.candidate]);
        plan.alternatives.back().remark = weighed.remark;
        if (weighed.predicted)
            plan.alternatives.back().seconds = weighed.predicted->seconds;
    }
    plan.columns = plan.alternatives.front().columns;
    plan.rows_of_tiles = plan.alternatives.front().rows_of_tiles;
    plan.window = task.image.height;
    plan.machine = setting.machine.name;
    plan.model = choice.model;
    plan.reason = choice.reason;
    return plan;
}

FilterPlan strips_plan(const FilterTask& task, const std::string& reason) {
    FilterPlan plan;
    plan.rows_of_tiles = task.ranks;
    plan.window = task.image.height;
    plan.reason = reason;
    return plan;
}

FilterPlan usual_filter_plan(const FilterTask& task, const planner::Setting& setting) {
    try {
        return plan_filter(task, setting);
    } catch (const model::CannotExpress& why) {
        return strips_plan(task, fmt::format("rule, not predicted: {}", why.what()));
    }
}

void set_window(FilterPlan& plan, const FilterTask& task, Bytes budget) {
    if (memory_of(plan, task, 1) > budget)
        throw InvalidTask(fmt::format(
            "one row of {} samples, those around it and {} results take {} bytes on {} ranks, "
            "allowed are {}",
            task.image.width, task.filter.features.size(), memory_of(plan, task, 1), task.ranks,
            budget));
    Elements fits = 1, too_many = task.image.height + 1;
    while (too_many - fits > 1) {
        const Elements rows = fits + (too_many - fits) / 2;
        (memory_of(plan, task, rows) <= budget ? fits : too_many) = rows;
    }
    plan.window = fits;
    plan.memory = memory_of(plan, task, fits);
}

std::string to_json(const FilterPlan& plan) {
    nlohmann::ordered_json json;
    json["plan_version"] = 1;
    json["operation"] = "filter";
    json["columns"] = plan.columns;
    json["rows"] = plan.rows_of_tiles;
    json["window"] = plan.window;
    json["reason"] = plan.reason;
    if (!plan.machine.empty()) {
        json["machine"] = plan.machine;
        json["model"] = plan.model;
    }
    for (const FilterPlan::Alternative& grid : plan.alternatives) {
        nlohmann::ordered_json candidate;
        candidate["columns"] = grid.columns;
        candidate["rows"] = grid.rows_of_tiles;
        if (grid.seconds)
            candidate["seconds"] = *grid.seconds;
        if (!grid.remark.empty())
            candidate["remark"] = grid.remark;
        json["candidates"].push_back(candidate);
    }
    return json.dump(2);
}

FilterPlan read_filter_plan(const std::string& path, const FilterTask& task) {
    constexpr Bytes most = Bytes{1} << 20;
    const auto json = nlohmann::json::parse(format::read_file(path, most), nullptr, false);
    const auto number = [&](const char* field, std::int64_t highest) {
        const auto found = json.is_object() ? json.find(field) : json.end();
        if (!json.is_object() || found == json.end() || !found->is_number_integer() ||
            found->get<std::int64_t>() < 1 || found->get<std::int64_t>() > highest)
            throw InvalidFile(path, fmt::format("no plan of a filter: \"{}\" is no whole number "
                                                "from 1 to {}",
                                                field, highest));
        return found->get<std::int64_t>();
    };
    number("plan_version", 1);
    if (const auto operation = json.find("operation");
        operation == json.end() || *operation != "filter")
        throw InvalidFile(path, "is no plan of a filter");
    FilterPlan plan;
    plan.columns = static_cast<int>(number("columns", task.ranks));
    plan.rows_of_tiles = static_cast<int>(number("rows", task.ranks));
    plan.window = number("window", task.image.height);
    plan.reason = "the plan of " + path;
    if (plan.columns * plan.rows_of_tiles != task.ranks)
        throw InvalidFile(path, fmt::format("{}x{} tiles, expected as many as the {} ranks",
                                            plan.columns, plan.rows_of_tiles, task.ranks));
    plan.memory = memory_of(plan, task, plan.window);
    return plan;
}

} // namespace sextant::operation
