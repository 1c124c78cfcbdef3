// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/schedules/family.hpp"

#include "sextant/core/error.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sextant::operation {

Schedule all_programs(const ScheduleRequest& request, std::string_view title,
                      const std::function<Program(int rank)>& program) {
    Schedule schedule;
    std::int64_t messages = 0;
    for (int rank = 0; rank < request.ranks; ++rank) {
        const std::vector<Step>& steps = schedule.emplace_back(program(rank)).steps;
        messages += std::count_if(steps.begin(), steps.end(),
                                  [](const Step& step) { return step.verb == Verb::send; });
        if (messages <= most_messages)
            continue;
        throw InvalidTask(
            fmt::format("{} on {} ranks has more than {} messages, too many to hold "
                        "at once; take fewer ranks, or an algorithm of fewer messages",
                        title, request.ranks, report::grouped(most_messages)));
    }
    return schedule;
}

} // namespace sextant::operation
