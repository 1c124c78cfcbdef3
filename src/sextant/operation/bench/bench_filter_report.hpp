// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/operation/bench/bench_filter.hpp"
#include "sextant/operation/bench/bench_summary.hpp"
#include "sextant/report/page.hpp"

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace sextant::operation {

/// A table of one case.
std::string to_text(const FilterResults& results, const std::string& transport, int rounds);
nlohmann::ordered_json to_json(const FilterResults& results);
/// Of a page: what each way takes.
report::Section section_of(const FilterResults& results);

/// What of a case goes into what a page says of all.
std::vector<TimedWay> ways_of(const FilterResults& results);

} // namespace sextant::operation
