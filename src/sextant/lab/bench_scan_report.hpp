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

/// The results as JSON, with all applications of the last round.
nlohmann::ordered_json to_json(const ScanResults& results);

/// A Gantt chart of the last round of our fastest configuration.
std::string picture_of(const ScanResults& results);

/// A case's page section: measured and rehearsed times, idle shares, and the Gantt chart.
report::Section section_of(const ScanResults& results);

/// The entries for the page's summary.
std::vector<TimedConfiguration> configurations_of(const ScanResults& results);

} // namespace sextant::lab
