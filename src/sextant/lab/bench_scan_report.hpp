// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/lab/bench_scan.hpp"
#include "sextant/lab/contest.hpp"
#include "sextant/report/page.hpp"

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace sextant::command {

/// A table for people.
std::string to_text(const ScanResults& results, const std::string& transport, int rounds);

/// The same for programs, with what every worker did in the last round as numbers.
nlohmann::ordered_json to_json(const ScanResults& results);

/// The last round of the fastest of ours as a picture.
std::string picture_of(const ScanResults& results);

/// All of a case for a page: what each way took beside its rehearsal, how much of the cores' time
/// was idle, and the picture.
report::Section section_of(const ScanResults& results);

/// What of a case goes into what a page says of all.
std::vector<TimedWay> ways_of(const ScanResults& results);

} // namespace sextant::command
