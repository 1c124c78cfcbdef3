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
    nlohmann::ordered_json json{{"algorithm", alternative.way.algorithm->name},
                                {"radices", alternative.way.tuning.radices},
                                {"window", alternative.way.tuning.window},
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

void check_asked(const compositing::Algorithm& algorithm, const compositing::Tuning& asked,
                 int positions) {
    if (!asked.radices.empty()) {
        if (!algorithm.has_radices) {
            throw InvalidTask(fmt::format("{} does not use radices; radix-k does", algorithm.name));
        }
        compositing::check_radices(asked.radices, positions);
    }
    if (asked.window < 0)
        throw InvalidTask(fmt::format("window {}: expected 1 or more", asked.window));
    if (asked.interlace < 0)
        throw InvalidTask(
            fmt::format("interlacing in blocks of {} pixels: expected 1 or more", asked.interlace));
    if (asked.window > 0 && !has_window(algorithm)) {
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

bool takes(const compositing::Algorithm& algorithm, const compositing::Tuning& asked) {
    return (asked.radices.empty() || algorithm.has_radices) &&
           (asked.window == 0 || has_window(algorithm));
}

Plan choose_by_name(const std::string& name, const compositing::Tuning& asked, int positions) {
    const compositing::Algorithm& algorithm = compositing::find(name);
    check_asked(algorithm, asked, positions);
    compositing::Tuning tuning = usual_tuning(algorithm, positions);
    if (!asked.radices.empty())
        tuning.radices = asked.radices;
    if (asked.window > 0)
        tuning.window = asked.window;
    tuning.interlace = asked.interlace;
    Plan plan;
    plan.algorithm = &algorithm;
    plan.tuning = std::move(tuning);
    plan.reason = "requested";
    return plan;
}

std::vector<compositing::Way> ways_with(const compositing::Task& task,
                                        const compositing::Tuning& asked) {
    if (!asked.radices.empty())
        compositing::check_radices(asked.radices, std::max(1, task.positions()));
    std::vector<compositing::Way> ways = compositing::ways(task);
    std::erase_if(ways, [&](compositing::Way& way) {
        if (!takes(*way.algorithm, asked))
            return true;
        if (asked.window > 0)
            way.tuning.window = asked.window;
        way.tuning.interlace = asked.interlace;
        return !asked.radices.empty() && way.tuning.radices != asked.radices;
    });
    const auto last = std::unique(ways.begin(), ways.end()); // identical once the window is set
    ways.erase(last, ways.end());
    if (ways.empty())
        throw InvalidTask("no algorithm supports " + compositing::to_text(asked));
    return ways;
}

} // namespace sextant::planner
