// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/operation/bench/bench_composite.hpp"
#include "sextant/operation/bench/bench_summary.hpp"
#include "sextant/report/page.hpp"

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace sextant::operation {

/// A table for people.
std::string to_text(const CompositeResults& results, const std::string& transport, int rounds);

/// The same for programs.
nlohmann::ordered_json to_json(const CompositeResults& results);

/// The same for a page.
report::Section section_of(const CompositeResults& results);

/// What of a case goes into what a page says of all.
std::vector<TimedWay> ways_of(const CompositeResults& results);

} // namespace sextant::operation
