// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/catalogue.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/operation/operation.hpp"
#include "sextant/schedule/program.hpp"
#include "sextant/schedule/prove.hpp"

#include <cstdint>
#include <functional>
#include <optional>
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
    std::optional<Grid> grid; ///< of processors, where its groups are submachines of that
};

/// An algorithm as `list` shows it.
struct FamilyAlgorithm {
    std::string_view family, name, summary;
    std::string_view takes; ///< how many ranks
    std::string_view source;
};

/// The parameter that names a family.
Parameter family_parameter();
/// Every algorithm of every family.
std::vector<FamilyAlgorithm> family_algorithms();

struct ScheduleRequest {
    std::string family = "compositing";
    std::string algorithm;      ///< of that family; "": all of it, or its first
    compositing::Tuning tuning; ///< of compositing; what it leaves open: every tuning, or the usual
    int ranks = 1;
    Elements elements = 0;
    int root = compositing::Task::distributed; ///< of compositing
};

/// All of a schedule is held at once, half a kilobyte and some microseconds a message: one with
/// more would not fit on a laptop, and is refused (InvalidTask) before the rest of it is made.
inline constexpr std::int64_t most_messages = 2'000'000;

/// One schedule: the algorithm named, or the first of its family, in its usual tuning.
/// Throws InvalidTask, also for what the family or the algorithm has no use for.
NamedSchedule make_schedule(const ScheduleRequest& request);

/// Visits the schedules of a family for so many ranks: each algorithm (or the one named) with each
/// tuning (or the one given, on the algorithms that have one). Each is made, visited and dropped.
/// None is visited where the algorithm does not take that number. Throws InvalidTask.
void for_each_schedule(const ScheduleRequest& request,
                       const std::function<void(const NamedSchedule&)>& visit);

} // namespace sextant::operation
