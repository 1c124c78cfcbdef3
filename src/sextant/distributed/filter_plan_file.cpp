// SPDX-License-Identifier: BSD-3-Clause
// Filter plans as JSON; docs/json.md describes the fields.
#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/text.hpp"
#include "sextant/distributed/filter_plan.hpp"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::distributed {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const filtering::Way& way) {
    const auto name = [](const collective::Algorithm* row) {
        return row ? Json(row->name) : Json();
    };
    Json json{{"columns", way.columns},
              {"rows", way.rows},
              {"distribute", name(way.distribute)},
              {"collect", name(way.collect)},
              {"packs", way.packs}};
    for (const filtering::Retiling& tiles : way.retilings)
        json["retilings"].push_back(
            {{"filter", tiles.filter + 1}, {"columns", tiles.columns}, {"rows", tiles.rows}});
    return json;
}

/// The fields of a plan or of a part of it; errors name the field.
class PlanFields {
  public:
    PlanFields(const std::string& path, nlohmann::json json)
        : path_(path), json_(std::move(json)) {}

    void check_kind() const {
        number("plan_version", 1);
        if (const auto* operation = find("operation"); !operation || *operation != "filter")
            throw InvalidFile(path_, "is no plan of a filter");
    }

    std::int64_t number(const char* field, std::int64_t highest) const {
        const auto* found = find(field);
        if (!found || !found->is_number_integer() || found->get<std::int64_t>() < 1 ||
            found->get<std::int64_t>() > highest)
            throw InvalidFile(path_, fmt::format("no plan of a filter: \"{}\" is no whole number "
                                                 "from 1 to {}",
                                                 field, highest));
        return found->get<std::int64_t>();
    }

    bool flag(const char* field) const {
        const auto* found = find(field);
        if (found && !found->is_boolean())
            throw InvalidFile(path_, fmt::format("\"{}\" is neither true nor false", field));
        return found && found->get<bool>();
    }

    /// Null if the field is null or missing.
    const collective::Algorithm* collective(const char* field) const {
        const auto* found = find(field);
        if (!found || found->is_null())
            return nullptr;
        if (!found->is_string())
            throw InvalidFile(path_, fmt::format("\"{}\" is no name of a collective", field));
        try {
            return &collective::find(found->get<std::string>());
        } catch (const InvalidTask& unknown) {
            throw InvalidFile(path_, fmt::format("\"{}\": {}", field, unknown.what()));
        }
    }

    std::vector<filtering::Retiling> retilings(const FilterTask& task) const {
        std::vector<filtering::Retiling> all;
        const auto* found = find("retilings");
        if (found && !found->is_array())
            throw InvalidFile(path_, "\"retilings\" is no list");
        for (const auto& fields : found ? *found : nlohmann::json::array()) {
            const PlanFields tiles(path_, fields);
            const auto filters = static_cast<std::int64_t>(task.filters.size());
            all.push_back({static_cast<int>(tiles.number("filter", filters) - 1),
                           static_cast<int>(tiles.number("columns", task.ranks)),
                           static_cast<int>(tiles.number("rows", task.ranks))});
        }
        return all;
    }

  private:
    const nlohmann::json* find(const char* field) const {
        const auto found = json_.is_object() ? json_.find(field) : json_.end();
        return json_.is_object() && found != json_.end() ? &*found : nullptr;
    }

    const std::string path_;
    const nlohmann::json json_;
};

} // namespace

std::string to_json(const FilterPlan& plan) {
    Json json{{"plan_version", 1}, {"operation", "filter"}};
    json.update(to_json(plan.way));
    json["window"] = plan.window;
    json["reason"] = plan.reason;
    if (!plan.machine.empty()) {
        json["machine"] = plan.machine;
        json["model"] = plan.model;
    }
    if (plan.predicted) {
        json["predicted"] = {{"seconds", plan.predicted->seconds},
                             {"interval", {plan.predicted->low, plan.predicted->high}}};
        if (plan.predicted->read)
            json["predicted"]["read"] = *plan.predicted->read;
        if (plan.predicted->write)
            json["predicted"]["write"] = *plan.predicted->write;
    }
    for (const FilterPlan::Alternative& alternative : plan.alternatives) {
        Json candidate = to_json(alternative.way);
        if (alternative.seconds)
            candidate["seconds"] = *alternative.seconds;
        if (!alternative.remark.empty())
            candidate["remark"] = alternative.remark;
        json["candidates"].push_back(candidate);
    }
    return to_text(json);
}

FilterPlan parse_filter_plan(const std::string& text, const std::string& path,
                             const FilterTask& task) {
    const PlanFields fields(path, parse_json(text, path));
    fields.check_kind();
    FilterPlan plan;
    filtering::Way& way = plan.way;
    way.columns = static_cast<int>(fields.number("columns", task.ranks));
    way.rows = static_cast<int>(fields.number("rows", task.ranks));
    way.distribute = fields.collective("distribute");
    way.collect = fields.collective("collect");
    way.packs = fields.flag("packs");
    way.retilings = fields.retilings(task);
    plan.window = fields.number("window", task.image.height);
    plan.reason = "the plan of " + path;
    try {
        check(plan, task);
    } catch (const InvalidTask& wrong) {
        throw InvalidFile(path, wrong.what());
    }
    return plan;
}

FilterPlan read_filter_plan(const std::string& path, const FilterTask& task) {
    constexpr Bytes most = Bytes{1} << 20;
    FilterPlan plan = parse_filter_plan(read_text(path, most), path, task);
    plan.memory = memory_of(plan.way, task, plan.window);
    return plan;
}

} // namespace sextant::distributed
