// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/rule.hpp"

#include "sextant/compositing/radix_k.hpp"
#include "sextant/core/error.hpp"

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
        return plan(
            "direct-send", {},
            fmt::format("{} images, no more than {}, over messages", positions, largest_radix));
    }
    const std::vector<int> radices = largest_first_radices(positions);
    if (!radices.empty()) {
        return plan("radix-k", {radices, 0},
                    fmt::format("{} images over messages, factors of at most {}, largest first",
                                positions, largest_radix));
    }
    return plan("shift-based", {{}, 1},
                fmt::format("{} images over messages have a prime factor above {}", positions,
                            largest_radix));
}

Plan choose_by_name(const std::string& name, const std::vector<int>& radices, int positions) {
    const compositing::Algorithm& algorithm = compositing::find(name);
    const std::string reason = "asked for";
    if (!radices.empty()) {
        if (!algorithm.has_radices) {
            throw InvalidTask(fmt::format("{} takes no radices; radix-k does", algorithm.name));
        }
        compositing::check_radices(radices, positions);
        return {&algorithm, {radices, 0}, reason};
    }
    if (algorithm.has_radices) {
        const std::vector<int> usual = largest_first_radices(positions);
        if (!usual.empty())
            return {&algorithm, {usual, 0}, reason};
    }
    const std::vector<compositing::Tuning> tunings = algorithm.tunings(positions);
    if (tunings.empty()) {
        throw InvalidTask(fmt::format("{} does not take {} images; it needs {}", algorithm.name,
                                      positions, algorithm.takes));
    }
    return {&algorithm, tunings.front(), reason};
}

} // namespace sextant::planner
