// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"
#include "sextant/lab/contest.hpp"
#include "sextant/report/page.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sextant::command {

/// `sextant bench`: times our algorithms against MPI's in one run.
Operation bench_operation();

/// The results of a benchmark in all its cases.
struct Findings {
    nlohmann::ordered_json cases = nlohmann::ordered_json::array();
    std::vector<report::Section> sections; ///< of a page
    std::vector<TimedWay> ways;            ///< of all cases

    template <class Results>
    void add(const Results& results) {
        cases.push_back(to_json(results));
        sections.push_back(section_of(results));
        const std::vector<TimedWay> more = ways_of(results);
        ways.insert(ways.end(), more.begin(), more.end());
    }
};

/// The conditions of a benchmark.
struct BenchSetting {
    std::string operation; ///< "bench scan"
    int ranks = 1;
    std::string transport;
    int rounds = 1;
};

/// The output files that the user asks for.
std::vector<std::string> bench_outputs(const Values& values);

/// Writes the files of --json and --report.
void write_findings(const Values& values, const BenchSetting& setting, const Findings& findings);

} // namespace sextant::command
