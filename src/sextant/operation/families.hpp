// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/catalogue.hpp"
#include "sextant/schedule/program.hpp"
#include "sextant/schedule/prove.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::operation {

/// A schedule of some family, with what it claims.
struct NamedSchedule {
    std::string algorithm; ///< its name in the family
    std::string title;     ///< name and tuning
    Schedule schedule;
    Claim claim;
};

std::vector<std::string_view> family_names();

struct ScheduleRequest {
    std::string family = "compositing", algorithm; ///< no algorithm: the first, or all
    std::vector<int> radices;
    int ranks = 1;
    Elements elements = 0;
    int root = compositing::Task::distributed; ///< of compositing
    /// A schedule with more is refused before the rest of it is made: all of it is held at once.
    std::int64_t most_messages = std::numeric_limits<std::int64_t>::max();
};

/// One schedule by name. Throws InvalidTask.
NamedSchedule make_schedule(const ScheduleRequest& request);

/// Every schedule of a family for so many ranks: each algorithm (or the one named) with each
/// tuning. Empty where the algorithm does not take that number. Throws InvalidTask for unknown
/// names.
std::vector<NamedSchedule> all_schedules(const ScheduleRequest& request);

} // namespace sextant::operation
