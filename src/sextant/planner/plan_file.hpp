// SPDX-License-Identifier: BSD-3-Clause
// Plans as JSON; docs/json.md describes the fields. Included by the source files of families, which
// say how a configuration is written and read.
#pragma once

#include "sextant/core/json_field.hpp"
#include "sextant/planner/plan.hpp"

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace sextant::planner {

using PlanJson = nlohmann::ordered_json;

/// What the JSON of a family says of alternatives.
struct AlternativeFields {
    const char* list = "candidates";
    bool ranges = true; ///< bounds, intervals, times of races and the number of rivals
    bool remarks = true;
};

inline constexpr int plan_version = 1;

/// The first fields of a plan file.
inline PlanJson plan_file(std::string_view operation) {
    return {{"plan_version", plan_version}, {"operation", operation}};
}

/// Appends to the JSON of a plan its reason and all that was predicted.
/// Input     `write`: returns a configuration's fields as PlanJson.
template <class Configuration, class Write>
void append_plan(PlanJson& json, const Plan<Configuration>& plan, const Write& write,
                 const AlternativeFields& fields = {}) {
    json["reason"] = plan.reason;
    if (!plan.model.empty()) {
        json["model"] = plan.model;
        json["machine"] = plan.machine;
        if (fields.ranges)
            json["rivals"] = plan.rivals;
    }
    for (const Alternative<Configuration>& alternative : plan.alternatives) {
        PlanJson one = write(alternative.configuration);
        if (fields.ranges && alternative.bound)
            one["bound"] = *alternative.bound;
        if (const auto& expected = alternative.expected) {
            one["seconds"] = expected->seconds;
            if (fields.ranges)
                one["interval"] = {expected->low, expected->high};
        }
        if (fields.ranges && alternative.raced)
            one["raced_seconds"] = *alternative.raced;
        if (fields.remarks && !alternative.remark.empty())
            one["remark"] = alternative.remark;
        json[fields.list].push_back(std::move(one));
    }
}

/// Reads a plan file, without what was predicted.
/// Input     `read`: returns the configuration in the file.
/// Throws    InvalidFile naming the field, also for another operation and a newer version.
template <class Configuration, class Read>
Plan<Configuration> plan_in(const JsonField& file, std::string_view operation, const Read& read) {
    if (file.at("plan_version").integer(1, 1 << 30) > plan_version)
        file.at("plan_version")
            .refuse(std::to_string(plan_version) +
                    " or less: the plan was written by a newer version");
    if (file.at("operation").text() != operation)
        file.at("operation").refuse('"' + std::string(operation) + '"');
    return {.configuration = read(file), .reason = file.text_or_empty("reason")};
}

} // namespace sextant::planner
