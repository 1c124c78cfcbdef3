// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/lab/bench_scan.hpp"
#include "sextant/lab/contest.hpp"
#include "sextant/report/page.hpp"

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace sextant::lab {

/// The results as a table.
std::string to_text(const ScanResults& results, const std::string& transport, int rounds);

/// The results as JSON, with all operator applications of the last round.
nlohmann::ordered_json to_json(const ScanResults& results);

/// A Gantt chart of the last round of the fastest configuration, baselines excluded.
std::string picture_of(const ScanResults& results);

/// A page section for the case: measured and simulated times, idle fractions, and the Gantt chart.
report::Section section_of(const ScanResults& results);

/// The results as entries of the page's summary.
std::vector<TimedConfiguration> configurations_of(const ScanResults& results);

} // namespace sextant::lab
