// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/rule.hpp"

#include "sextant/compositing/radix_k.hpp"
#include "sextant/core/error.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sextant::planner {

namespace {

constexpr int largest_radix = 8;

} // namespace

std::string Plan::text() const {
    const std::string tuned = compositing::to_text(tuning);
    return tuned.empty() ? std::string(algorithm->name)
                         : fmt::format("{}, {}", algorithm->name, tuned);
}

std::vector<int> largest_first_radices(int positions) {
    std::vector<int> radices;
    for (int k = largest_radix; k >= 2; --k) {
        for (; positions % k == 0 && positions > 1; positions /= k)
            radices.push_back(k);
    }
    return positions == 1 ? radices : std::vector<int>();
}

Plan choose_by_rule(int positions, bool shares_memory) {
    const auto plan = [](const char* name, compositing::Tuning tuning, std::string reason) {
        return Plan{&compositing::find(name), std::move(tuning),
                    "rule, not predicted: " + std::move(reason)};
    };
    if (shares_memory) {
        return plan("direct-send", {}, "ranks share memory, so each blends its part in one pass");
    }
    if (positions <= largest_radix) {
        return plan("direct-send", {},
                    fmt::format("{} ranks with images, no more than {}, over messages", positions,
                                largest_radix));
    }
    const std::vector<int> radices = largest_first_radices(positions);
    if (!radices.empty()) {
        return plan(
            "radix-k", {radices, 0},
            fmt::format("{} ranks with images over messages, factors of at most {}, largest first",
                        positions, largest_radix));
    }
    return plan("shift-based", {{}, 1},
                fmt::format("{} ranks with images over messages have a prime factor above {}",
                            positions, largest_radix));
}

namespace {

/// Whether it orders its messages in rounds that a window can bound: then a tuning of it has one.
bool has_window(const compositing::Algorithm& algorithm) {
    const std::vector<compositing::Tuning> tunings = algorithm.tunings(2);
    return std::any_of(tunings.begin(), tunings.end(),
                       [](const compositing::Tuning& tuning) { return tuning.window > 0; });
}

void check_asked(const compositing::Algorithm& algorithm, const compositing::Tuning& asked,
                 int positions) {
    if (!asked.radices.empty()) {
        if (!algorithm.has_radices) {
            throw InvalidTask(fmt::format("{} takes no radices; radix-k does", algorithm.name));
        }
        compositing::check_radices(asked.radices, positions);
    }
    if (asked.window < 0)
        throw InvalidTask(fmt::format("a window of {}: expected 1 or more", asked.window));
    if (asked.window > 0 && !has_window(algorithm)) {
        throw InvalidTask(fmt::format("{} takes no window; shift-based, direct-send and "
                                      "parallel-pipeline do",
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
        throw InvalidTask(fmt::format("{} does not take {} ranks with images; it takes {}",
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
    return {&algorithm, tuning, "asked for"};
}

Plan choose(const std::string& name, const compositing::Tuning& asked, int positions,
            bool shares_memory) {
    if (name != "auto")
        return choose_by_name(name, asked, positions);
    if (asked == compositing::Tuning{})
        return choose_by_rule(positions, shares_memory);
    return choose_by_name(asked.radices.empty() ? "shift-based" : "radix-k", asked, positions);
}

} // namespace sextant::planner
