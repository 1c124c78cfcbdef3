// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/json.hpp"
#include "sextant/core/json_value.hpp"
#include "sextant/planner/plan.hpp"

#include <string>
#include <string_view>
#include <utility>

// Plans as JSON; docs/json.md describes the fields. Each family provides functions that write and
// read its configurations.
namespace sextant::planner {

/// Selects the members that a family of algorithms writes for each alternative.
struct AlternativeFields {
    const char* list = "candidates";
    bool ranges = true; ///< bounds, intervals, race times and the number of rivals
    bool remarks = true;
};

inline constexpr int plan_version = 1;

/// The first members of a plan file: version and operation.
inline Json plan_file(std::string_view operation) {
    return {{"plan_version", plan_version}, {"operation", operation}};
}

/// Adds the reason of a plan and all predictions.
/// Input     `write(json, configuration)`: adds a configuration's members.
template <class Configuration, class Write>
void add_plan(Json& json, const Plan<Configuration>& plan, const Write& write,
              const AlternativeFields& fields = {}) {
    json.set("reason", plan.reason);
    if (!plan.model.empty()) {
        json.set("model", plan.model);
        json.set("machine", plan.machine);
        if (fields.ranges)
            json.set("rivals", plan.rivals);
    }
    Json list;
    for (const Alternative<Configuration>& alternative : plan.alternatives) {
        Json one;
        write(one, alternative.configuration);
        if (fields.ranges && alternative.bound)
            one.set("bound", alternative.bound);
        if (const auto& expected = alternative.expected) {
            one.set("seconds", expected->seconds);
            if (fields.ranges)
                one.set("interval", Json::array({expected->low, expected->high}));
        }
        if (fields.ranges && alternative.raced)
            one.set("raced_seconds", alternative.raced);
        if (fields.remarks && !alternative.remark.empty())
            one.set("remark", alternative.remark);
        list.add(std::move(one));
    }
    if (!plan.alternatives.empty())
        json.set(fields.list, std::move(list));
}

/// Reads a plan file, without predictions.
/// Input     `read`: returns the configuration in the file.
/// Throws    InvalidFile naming the field, also if the operation differs or the version is newer.
template <class Configuration, class Read>
Plan<Configuration> plan_in(const JsonField& file, std::string_view operation, const Read& read) {
    file.at("plan_version").require_version(plan_version);
    if (file.at("operation").text() != operation)
        file.at("operation").refuse('"' + std::string(operation) + '"');
    return {.configuration = read(file), .reason = file.text_or_empty("reason")};
}

} // namespace sextant::planner
