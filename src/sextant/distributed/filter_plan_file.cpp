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

void add_filter(Json& json, const filtering::Configuration& configuration) {
    const auto name = [](const collective::Algorithm* row) {
        return row ? Json(row->name) : Json();
    };
    json.set("columns", configuration.columns);
    json.set("rows", configuration.rows);
    json.set("distribute", name(configuration.distribute));
    json.set("collect", name(configuration.collect));
    json.set("packs", configuration.packs);
    Json retilings;
    for (const filtering::Retiling& tiles : configuration.retilings)
        retilings.add(
            {{"filter", tiles.filter + 1}, {"columns", tiles.columns}, {"rows", tiles.rows}});
    if (!configuration.retilings.empty())
        json.set("retilings", std::move(retilings));
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

Json json_of(const FilterPlan& plan) {
    Json json = planner::plan_file("filter");
    add_filter(json, plan.configuration);
    json.set("window", plan.window);
    if (const auto& predicted = plan.predicted) {
        Json times{{"seconds", predicted->seconds},
                   {"interval", Json::array({predicted->low, predicted->high})}};
        if (predicted->read)
            times.set("read", predicted->read);
        if (predicted->write)
            times.set("write", predicted->write);
        json.set("predicted", std::move(times));
    }
    planner::add_plan(json, plan, add_filter, {.ranges = false});
    return json;
}

std::string to_json(const FilterPlan& plan) {
    return json_of(plan).text();
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
