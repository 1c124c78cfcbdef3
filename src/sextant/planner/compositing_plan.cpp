// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/compositing_plan.hpp"

#include "sextant/compositing/swap_algorithms.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"
#include "sextant/planner/plan_file.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sextant::planner {

namespace {

void add_composite(Json& json, const compositing::Configuration& configuration) {
    json.set("algorithm", configuration.algorithm->name);
    json.set("radices", configuration.tuning.radices);
    json.set("window", configuration.tuning.window);
    json.set("interlace", configuration.tuning.interlace);
}

compositing::Configuration configuration_in(const JsonField& plan) {
    constexpr std::int64_t most = 1 << 30;
    compositing::Configuration configuration;
    try {
        configuration.algorithm = &compositing::find(plan.at("algorithm").text());
    } catch (const InvalidTask& unknown) {
        plan.at("algorithm").fail(std::string("names an ") + unknown.what());
    }
    for (const JsonField& radix : plan.at("radices").items())
        configuration.tuning.radices.push_back(static_cast<int>(radix.integer(2, most)));
    configuration.tuning.window = static_cast<int>(plan.at("window").integer(0, most));
    if (const auto interlace = plan.find("interlace"))
        configuration.tuning.interlace = interlace->integer(0, Elements{1} << 40);
    if (const auto sparse = plan.find("sparse"))
        configuration.sparse = sparse->boolean();
    return configuration;
}

} // namespace

Json json_of(const CompositingPlan& plan) {
    Json json = plan_file("composite");
    add_composite(json, plan.configuration);
    json.set("sparse", plan.configuration.sparse);
    add_plan(json, plan, add_composite);
    return json;
}

std::string to_json(const CompositingPlan& plan) {
    return json_of(plan).text();
}

CompositingPlan parse_plan(std::string_view text, const std::string& path) {
    return plan_in<compositing::Configuration>(JsonField::parse(text, path), "composite",
                                               configuration_in);
}

CompositingPlan read_plan(const std::string& path) {
    CompositingPlan plan = parse_plan(read_text(path, JsonLimits{}.bytes), path);
    plan.reason = "the plan of " + path + (plan.reason.empty() ? "" : ": " + plan.reason);
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

/// True if a window can limit the algorithm's rounds of messages, that is, if one of its tunings
/// has a window.
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

CompositingPlan choose_by_name(const std::string& name, const compositing::Tuning& requested,
                               int positions) {
    const compositing::Algorithm& algorithm = compositing::find(name);
    check_request(algorithm, requested, positions);
    compositing::Tuning tuning = usual_tuning(algorithm, positions);
    if (!requested.radices.empty())
        tuning.radices = requested.radices;
    if (requested.window > 0)
        tuning.window = requested.window;
    tuning.interlace = requested.interlace;
    return {.configuration = {&algorithm, std::move(tuning)}, .reason = "requested"};
}

std::vector<compositing::Configuration> configurations_with(const compositing::Task& task,
                                                            const compositing::Tuning& requested) {
    if (!requested.radices.empty())
        compositing::check_radices(requested.radices, std::max(1, task.positions()));
    std::vector<compositing::Configuration> configurations = compositing::configurations(task);
    for (const compositing::Algorithm& algorithm : compositing::catalogue()) {
        // Not all radices are listed for very many ranks.
        if (algorithm.has_radices && !requested.radices.empty())
            configurations.push_back({&algorithm, {requested.radices, 0}});
    }
    std::erase_if(configurations, [&](compositing::Configuration& configuration) {
        if (!takes(*configuration.algorithm, requested))
            return true;
        if (requested.window > 0)
            configuration.tuning.window = requested.window;
        configuration.tuning.interlace = requested.interlace;
        return !requested.radices.empty() && configuration.tuning.radices != requested.radices;
    });
    const auto last = std::unique(configurations.begin(),
                                  configurations.end()); // setting the window creates duplicates
    configurations.erase(last, configurations.end());
    if (configurations.empty())
        throw InvalidTask("no algorithm supports " + compositing::to_text(requested));
    return configurations;
}

} // namespace sextant::planner
