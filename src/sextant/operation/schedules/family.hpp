// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/operation/schedules/families.hpp"

#include <functional>
#include <string_view>
#include <vector>

/// What the catalogue of families is made of: a file and a row of `families.cpp` each.
namespace sextant::operation {

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

} // namespace sextant::operation
