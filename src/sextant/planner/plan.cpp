// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/plan.hpp"

#include "sextant/compositing/segments.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/text_file.hpp"
#include "sextant/machine/field.hpp"

#include <nlohmann/json.hpp>

namespace sextant::planner {

namespace {

constexpr int plan_version = 1;

nlohmann::ordered_json to_json(const Alternative& alternative) {
    nlohmann::ordered_json json{{"algorithm", alternative.way.algorithm->name},
                                {"radices", alternative.way.tuning.radices},
                                {"window", alternative.way.tuning.window},
                                {"segments", alternative.way.tuning.segments},
                                {"interlace", alternative.way.tuning.interlace}};
    if (alternative.bound)
        json["bound"] = *alternative.bound;
    if (const auto& expected = alternative.expected) {
        json["seconds"] = expected->seconds;
        json["interval"] = {expected->low, expected->high};
    }
    if (alternative.raced)
        json["raced_seconds"] = *alternative.raced;
    if (!alternative.remark.empty())
        json["remark"] = alternative.remark;
    return json;
}

} // namespace

std::string Plan::text() const {
    return way().text() + (sparse ? ", sparse" : "");
}

std::optional<Seconds> Plan::expected() const {
    if (alternatives.empty() || !alternatives.front().expected)
        return std::nullopt;
    return alternatives.front().expected->seconds;
}

void Plan::take(const compositing::Way& way) {
    algorithm = way.algorithm;
    tuning = way.tuning;
}

std::string to_json(const Plan& plan) {
    nlohmann::ordered_json json{{"plan_version", plan_version},
                                {"operation", "composite"},
                                {"algorithm", plan.algorithm->name},
                                {"radices", plan.tuning.radices},
                                {"window", plan.tuning.window},
                                {"segments", plan.tuning.segments},
                                {"interlace", plan.tuning.interlace},
                                {"sparse", plan.sparse},
                                {"reason", plan.reason}};
    if (!plan.alternatives.empty()) {
        json["model"] = plan.model;
        json["machine"] = plan.machine;
        json["rivals"] = plan.rivals;
        for (const Alternative& alternative : plan.alternatives)
            json["candidates"].push_back(to_json(alternative));
    }
    return sextant::to_text(json);
}

Plan parse_plan(std::string_view text, const std::string& path) {
    using machine::Field;
    const Field file = Field::parse(text, path);
    if (file.at("plan_version").integer(1, 1 << 30) > plan_version)
        file.at("plan_version").refuse(std::to_string(plan_version) + " or less: a newer version");
    if (file.at("operation").text() != "composite")
        file.at("operation").refuse("\"composite\"");
    Plan plan;
    try {
        plan.algorithm = &compositing::find(file.at("algorithm").text());
    } catch (const InvalidTask& unknown) {
        file.at("algorithm").fail(std::string("names an ") + unknown.what());
    }
    constexpr std::int64_t most = 1 << 30;
    for (const Field& radix : file.at("radices").items())
        plan.tuning.radices.push_back(static_cast<int>(radix.integer(2, most)));
    plan.tuning.window = static_cast<int>(file.at("window").integer(0, most));
    if (const auto segments = file.find("segments"))
        plan.tuning.segments = static_cast<int>(segments->integer(0, compositing::most_segments));
    if (const auto interlace = file.find("interlace"))
        plan.tuning.interlace = interlace->integer(0, Elements{1} << 40);
    if (const auto sparse = file.find("sparse"))
        plan.sparse = sparse->boolean();
    plan.reason = file.at("reason").text();
    return plan;
}

Plan read_plan(const std::string& path) {
    constexpr Bytes longest = Bytes{1} << 24;
    Plan plan = parse_plan(read_text(path, longest), path);
    plan.reason = "the plan of " + path + ": " + plan.reason;
    return plan;
}

} // namespace sextant::planner
