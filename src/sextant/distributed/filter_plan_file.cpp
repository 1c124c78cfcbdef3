// SPDX-License-Identifier: BSD-3-Clause
// Filter plans as JSON; docs/json.md describes the fields.
#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"
#include "sextant/distributed/filter_plan.hpp"
#include "sextant/planner/plan_file.hpp"

#include <optional>
#include <string>

namespace sextant::distributed {

namespace {

using planner::PlanJson;

PlanJson filter_fields(const filtering::Configuration& configuration) {
    const auto name = [](const collective::Algorithm* row) {
        return row ? PlanJson(row->name) : PlanJson();
    };
    PlanJson json{{"columns", configuration.columns},
                  {"rows", configuration.rows},
                  {"distribute", name(configuration.distribute)},
                  {"collect", name(configuration.collect)},
                  {"packs", configuration.packs}};
    for (const filtering::Retiling& tiles : configuration.retilings)
        json["retilings"].push_back(
            {{"filter", tiles.filter + 1}, {"columns", tiles.columns}, {"rows", tiles.rows}});
    return json;
}

/// The collective that a field names; null if the field is null or missing.
const collective::Algorithm* collective_of(const JsonField& plan, const char* name) {
    const std::optional<JsonField> field = plan.find(name);
    if (!field || field->is_null())
        return nullptr;
    try {
        return &collective::find(field->text());
    } catch (const InvalidTask& unknown) {
        field->fail(std::string("names an ") + unknown.what());
    }
}

filtering::Configuration configuration_in(const JsonField& plan, const FilterTask& task) {
    const auto tiles = [&](const JsonField& fields, const char* side) {
        return static_cast<int>(fields.at(side).integer(1, task.ranks));
    };
    filtering::Configuration configuration{tiles(plan, "columns"), tiles(plan, "rows"),
                                           collective_of(plan, "distribute"),
                                           collective_of(plan, "collect")};
    if (const auto packs = plan.find("packs"))
        configuration.packs = packs->boolean();
    for (const JsonField& change : plan.items_or_none("retilings"))
        configuration.retilings.push_back(
            {static_cast<int>(change.at("filter").integer(1, std::ssize(task.filters)) - 1),
             tiles(change, "columns"), tiles(change, "rows")});
    return configuration;
}

} // namespace

std::string to_json(const FilterPlan& plan) {
    PlanJson json = planner::plan_file("filter");
    json.update(filter_fields(plan.configuration));
    json["window"] = plan.window;
    if (plan.predicted) {
        json["predicted"] = {{"seconds", plan.predicted->seconds},
                             {"interval", {plan.predicted->low, plan.predicted->high}}};
        if (plan.predicted->read)
            json["predicted"]["read"] = *plan.predicted->read;
        if (plan.predicted->write)
            json["predicted"]["write"] = *plan.predicted->write;
    }
    planner::append_plan(json, plan, filter_fields, {.ranges = false});
    return to_text(json);
}

FilterPlan parse_filter_plan(const std::string& text, const std::string& path,
                             const FilterTask& task) {
    const JsonField file = JsonField::parse(text, path);
    FilterPlan plan{planner::plan_in<filtering::Configuration>(
        file, "filter", [&](const JsonField& fields) { return configuration_in(fields, task); })};
    plan.window = file.at("window").integer(1, task.image.height);
    try {
        check(plan, task);
    } catch (const InvalidTask& wrong) {
        throw InvalidFile(path, wrong.what());
    }
    return plan;
}

FilterPlan read_filter_plan(const std::string& path, const FilterTask& task) {
    FilterPlan plan = parse_filter_plan(read_text(path, JsonLimits{}.bytes), path, task);
    plan.reason = "the plan of " + path;
    plan.memory = memory_of(plan.configuration, task, plan.window);
    return plan;
}

} // namespace sextant::distributed
