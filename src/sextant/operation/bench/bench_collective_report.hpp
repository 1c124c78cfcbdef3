// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/operation/bench/bench_collective.hpp"
#include "sextant/operation/bench/bench_summary.hpp"
#include "sextant/report/page.hpp"

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace sextant::operation {

/// Tables for people, one of all sizes for each contestant, laid out as the OSU micro-benchmarks
/// are.
std::string to_text(const CollectiveResults& results, const std::string& transport, int rounds);

/// The same for programs.
nlohmann::ordered_json to_json(const CollectiveResults& results);

/// The same for a page, a picture a size.
report::Section section_of(const CollectiveResults& results);

/// What of a case goes into what a page says of all.
std::vector<TimedWay> ways_of(const CollectiveResults& results);

} // namespace sextant::operation
