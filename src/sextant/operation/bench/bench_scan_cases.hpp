// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/scan/operator_times.hpp"
#include "sextant/scan/way.hpp"

#include <string>
#include <vector>

namespace sextant::operation {

/// One scan to time; docs/bench.md has its fields.
struct ScanCase {
    std::string name;
    Elements values = 64;
    scan::Distribution times{scan::Distribution::Kind::exponential, 2e-3};
    bool busy = false; ///< the operator computes instead of sleeping
    int ranks = 0;     ///< by simulated clock; 0: as many as --ranks says
    std::vector<int> threads = {1};
    std::vector<scan::Boundaries> boundaries = {scan::Boundaries::fixed, scan::Boundaries::moving};
    std::vector<scan::Shares> shares = {scan::Shares::by_number};
    double expected_off = 0;             ///< shares by time: see scan::expected_times
    std::vector<std::string> strategies; ///< empty: all that take so many threads
    std::vector<std::string> algorithms; ///< empty: all
    bool baselines = true;
    double neighbours = 0; ///< by simulated clock: an application's time for each value before
    Seconds time_limit = 0;
    /// Where the operator throws: as it puts something before this element. None: 0. MPI's scans,
    /// which no exception may leave, take no part then.
    Elements fails_at = 0;
};

/// Reads cases from a JSON file. Throws InvalidFile, naming case, field, value and expectation.
std::vector<ScanCase> read_scan_cases(const std::string& path);

/// Recorded operator times: a JSON list of seconds. Throws InvalidFile.
std::vector<Seconds> read_times(const std::string& path);

/// The ways that a case compares, every one with its usual tunings.
std::vector<scan::Way> ways_of(const ScanCase& what);

} // namespace sextant::operation
