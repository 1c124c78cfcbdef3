// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/plan.hpp"

#include "sextant/compositing/swap_algorithms.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/json_field.hpp"
#include "sextant/core/text.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::planner {

namespace {

constexpr int plan_version = 1;

nlohmann::ordered_json to_json(const Alternative& alternative) {
    nlohmann::ordered_json json{{"algorithm", alternative.configuration.algorithm->name},
                                {"radices", alternative.configuration.tuning.radices},
                                {"window", alternative.configuration.tuning.window},
                                {"interlace", alternative.configuration.tuning.interlace}};
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
    return configuration().text() + (sparse ? ", sparse" : "");
}

std::optional<Seconds> Plan::expected() const {
    if (alternatives.empty() || !alternatives.front().expected)
        return std::nullopt;
    return alternatives.front().expected->seconds;
}

void Plan::take(const compositing::Configuration& configuration) {
    algorithm = configuration.algorithm;
    tuning = configuration.tuning;
}

std::string to_json(const Plan& plan) {
    nlohmann::ordered_json json{{"plan_version", plan_version},
                                {"operation", "composite"},
                                {"algorithm", plan.algorithm->name},
                                {"radices", plan.tuning.radices},
                                {"window", plan.tuning.window},
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
    const JsonField file = JsonField::parse(text, path);
    if (file.at("plan_version").integer(1, 1 << 30) > plan_version)
        file.at("plan_version")
            .refuse(std::to_string(plan_version) +
                    " or less: the plan was written by a newer version");
    if (file.at("operation").text() != "composite")
        file.at("operation").refuse("\"composite\"");
    Plan plan;
    try {
        plan.algorithm = &compositing::find(file.at("algorithm").text());
    } catch (const InvalidTask& unknown) {
        file.at("algorithm").fail(std::string("names an ") + unknown.what());
    }
    constexpr std::int64_t most = 1 << 30;
    for (const JsonField& radix : file.at("radices").items())
        plan.tuning.radices.push_back(static_cast<int>(radix.integer(2, most)));
    plan.tuning.window = static_cast<int>(file.at("window").integer(0, most));
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

std::vector<int> largest_first_radices(int positions) {
    std::vector<int> radices;
    for (int k = 8; k >= 2; --k) {
        for (; positions % k == 0 && positions > 1; positions /= k)
            radices.push_back(k);
    }
    return positions == 1 ? radices : std::vector<int>();
}

namespace {

/// True if the algorithm orders its messages in rounds that a window can bound: then one of its
/// tunings has a window.
bool has_window(const compositing::Algorithm& algorithm) {
    const std::vector<compositing::Tuning> tunings = algorithm.tunings(2);
    return std::any_of(tunings.begin(), tunings.end(),
                       [](const compositing::Tuning& tuning) { return tuning.window > 0; });
}

void check_request(const compositing::Algorithm& algorithm, const compositing::Tuning& requested,
                   int positions) {
    if (!requested.radices.empty()) {
        if (!algorithm.has_radices) {
            throw InvalidTask(fmt::format("{} does not use radices; radix-k does", algorithm.name));
        }
        compositing::check_radices(requested.radices, positions);
    }
    if (requested.window < 0)
        throw InvalidTask(fmt::format("window {}: expected 1 or more", requested.window));
    if (requested.interlace < 0)
        throw InvalidTask(fmt::format("interlacing in blocks of {} pixels: expected 1 or more",
                                      requested.interlace));
    if (requested.window > 0 && !has_window(algorithm)) {
        throw InvalidTask(fmt::format(
            "{} does not use a window; shift-based, direct-send and parallel-pipeline do",
            algorithm.name));
    }
}

compositing::Tuning usual_tuning(const compositing::Algorithm& algorithm, int positions) {
    if (algorithm.has_radices) {
        const std::vector<int> usual = largest_first_radices(positions);
        if (!usual.empty())
            return {usual, 0};
    }
    const std::vector<compositing::Tuning> tunings = algorithm.tunings(positions);
    if (tunings.empty()) {
        throw InvalidTask(fmt::format("{} does not support {} ranks with images; it supports {}",
                                      algorithm.name, positions, algorithm.takes));
    }
    return tunings.front();
}

} // namespace

bool takes(const compositing::Algorithm& algorithm, const compositing::Tuning& requested) {
    return (requested.radices.empty() || algorithm.has_radices) &&
           (requested.window == 0 || has_window(algorithm));
}

Plan choose_by_name(const std::string& name, const compositing::Tuning& requested, int positions) {
    const compositing::Algorithm& algorithm = compositing::find(name);
    check_request(algorithm, requested, positions);
    compositing::Tuning tuning = usual_tuning(algorithm, positions);
    if (!requested.radices.empty())
        tuning.radices = requested.radices;
    if (requested.window > 0)
        tuning.window = requested.window;
    tuning.interlace = requested.interlace;
    Plan plan;
    plan.algorithm = &algorithm;
    plan.tuning = std::move(tuning);
    plan.reason = "requested";
    return plan;
}

std::vector<compositing::Configuration> configurations_with(const compositing::Task& task,
                                                            const compositing::Tuning& requested) {
    if (!requested.radices.empty())
        compositing::check_radices(requested.radices, std::max(1, task.positions()));
    std::vector<compositing::Configuration> configurations = compositing::configurations(task);
    std::erase_if(configurations, [&](compositing::Configuration& configuration) {
        if (!takes(*configuration.algorithm, requested))
            return true;
        if (requested.window > 0)
            configuration.tuning.window = requested.window;
        configuration.tuning.interlace = requested.interlace;
        return !requested.radices.empty() && configuration.tuning.radices != requested.radices;
    });
    const auto last = std::unique(configurations.begin(),
                                  configurations.end()); // identical once the window is set
    configurations.erase(last, configurations.end());
    if (configurations.empty())
        throw InvalidTask("no algorithm supports " + compositing::to_text(requested));
    return configurations;
}

} // namespace sextant::planner
