// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/schedules/family.hpp"
#include "sextant/planner/asked.hpp"

namespace sextant::operation {

namespace {

NamedSchedule compositing_schedule(const compositing::Algorithm& algorithm,
                                   const compositing::Tuning& tuning,
                                   const ScheduleRequest& request) {
    const auto task = compositing::one_image_each(request.ranks, request.elements, request.root);
    const std::string title = compositing::Way{&algorithm, tuning}.text();
    return {
        std::string(algorithm.name),
        title,
        all_programs(request, title,
                     [&](int rank) { return compositing::program(algorithm, task, tuning, rank); }),
        compositing::claim(algorithm, task, tuning),
        {}};
}

Way way(const compositing::Algorithm& algorithm, const compositing::Tuning& tuning) {
    return {algorithm.name, [&algorithm, tuning](const ScheduleRequest& request) {
                return compositing_schedule(algorithm, tuning, request);
            }};
}

/// In the tuning asked for, and the usual one in what that leaves open.
Way chosen(const std::string& algorithm, const ScheduleRequest& request) {
    const auto plan = planner::choose_by_name(algorithm, request.tuning, request.ranks);
    return way(*plan.algorithm, plan.tuning);
}

/// Where a tuning is given, the algorithms that have one are meant.
std::vector<Way> ways_for(const ScheduleRequest& request) {
    std::vector<Way> ways;
    const bool tuned = request.tuning != compositing::Tuning{};
    for (const compositing::Algorithm& algorithm : compositing::catalogue()) {
        if (!request.algorithm.empty() && request.algorithm != algorithm.name)
            continue;
        if (!tuned) {
            for (const compositing::Tuning& tuning : algorithm.tunings(request.ranks))
                ways.push_back(way(algorithm, tuning));
        } else if (!request.algorithm.empty() || (planner::takes(algorithm, request.tuning) &&
                                                  !algorithm.tunings(request.ranks).empty())) {
            ways.push_back(chosen(std::string(algorithm.name), request));
        }
    }
    return ways;
}

Way usual(const ScheduleRequest& request) {
    if (!request.algorithm.empty())
        return chosen(request.algorithm, request);
    return chosen(!request.tuning.radices.empty() ? "radix-k"
                  : request.tuning.window > 0     ? "shift-based"
                                                  : "direct-send",
                  request);
}

} // namespace

Family compositing_family() {
    Family family{.name = "compositing", .ways_for = ways_for, .usual = usual};
    for (const compositing::Algorithm& row : compositing::catalogue())
        family.algorithms.push_back({family.name, row.name, row.summary, row.takes, row.source});
    return family;
}

} // namespace sextant::operation
