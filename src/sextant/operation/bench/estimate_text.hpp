// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/operation/bench/contest.hpp"
#include "sextant/report/alternatives_section.hpp"

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace sextant::operation {

/// "[1.20, 1.31]" in a unit of which a second has so many.
std::string interval_text(const Estimate& estimate, double units, int digits);
/// The same after the median.
std::string to_text(const Estimate& estimate, double units, int digits);

/// As a page shows it.
report::TimeRange to_range(const Estimate& estimate);

/// `median`, `low`, `high`.
nlohmann::ordered_json to_json(const Estimate& estimate);

} // namespace sextant::operation
