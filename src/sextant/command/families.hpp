// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"
#include "sextant/compositing/catalogue.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/schedule/program.hpp"
#include "sextant/schedule/prove.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::command {

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

} // namespace sextant::command

/// What the catalogue of families is made of: a file and a row of `families.cpp` each.
namespace sextant::command {

/// An algorithm in one tuning.
struct Way {
    std::string_view algorithm;
    std::function<NamedSchedule(const ScheduleRequest& request)> make;
};

/// What there is for any number of ranks.
struct Family {
    std::string_view name;
    std::vector<FamilyAlgorithm> algorithms = {}; ///< for lists
    std::vector<Way> ways = {};                   ///< of each algorithm, its usual one first
    /// Where they depend on what is asked: the ways for that; null elsewhere.
    std::vector<Way> (*ways_for)(const ScheduleRequest& request) = nullptr;
    /// And the one way meant where one is wanted; null: the first.
    Way (*usual)(const ScheduleRequest& request) = nullptr;

    void add(std::string_view algorithm, std::string_view summary, std::string_view source) {
        algorithms.push_back({name, algorithm, summary, "any number", source});
    }
    void add(std::string_view algorithm, std::string_view summary, std::string_view source,
             NamedSchedule (*make)(const ScheduleRequest& request)) {
        add(algorithm, summary, source);
        ways.push_back({algorithm, make});
    }
};

/// All ranks' programs. Throws InvalidTask as soon as they hold more messages than they may.
Schedule all_programs(const ScheduleRequest& request, std::string_view title,
                      const std::function<Program(int rank)>& program);

Family compositing_family();
Family scan_family();   ///< each scan in the form it has of its own accord, then in the other
Family series_family(); ///< each strategy over each scan
Family collective_family();
Family halo_family();
Family merging_family();

} // namespace sextant::command
