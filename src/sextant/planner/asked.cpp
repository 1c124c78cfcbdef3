// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/asked.hpp"

#include "sextant/compositing/radix_k.hpp"
#include "sextant/core/error.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sextant::planner {

std::vector<int> largest_first_radices(int positions) {
    std::vector<int> radices;
    for (int k = 8; k >= 2; --k) {
        for (; positions % k == 0 && positions > 1; positions /= k)
            radices.push_back(k);
    }
    return positions == 1 ? radices : std::vector<int>();
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
    if (asked.segments < 0)
        throw InvalidTask(fmt::format("{} segments: expected 1 or more", asked.segments));
    if (asked.interlace < 0)
        throw InvalidTask(fmt::format("blocks of {} pixels to interlace by: expected 1 or more",
                                      asked.interlace));
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
    if (asked.segments > 0)
        tuning.segments = asked.segments;
    tuning.interlace = asked.interlace;
    Plan plan;
    plan.algorithm = &algorithm;
    plan.tuning = std::move(tuning);
    plan.reason = "asked for";
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
        if (asked.segments > 0)
            way.tuning.segments = asked.segments;
        way.tuning.interlace = asked.interlace;
        return !asked.radices.empty() && way.tuning.radices != asked.radices;
    });
    const auto last = std::unique(ways.begin(), ways.end()); // of windows one is left
    ways.erase(last, ways.end());
    if (ways.empty())
        throw InvalidTask("no algorithm has " + compositing::to_text(asked));
    return ways;
}

} // namespace sextant::planner
