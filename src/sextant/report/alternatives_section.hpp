// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/report/page.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sextant::report {

/// A time and the ends of its interval.
struct TimeRange {
    Seconds seconds = 0, low = 0, high = 0;
};

/// A configuration with its predicted and measured times.
struct Alternative {
    std::string name;
    std::optional<TimeRange> predicted = {}, measured = {};
    std::optional<Seconds> bound = {}; ///< lower bound for all predictions
    std::string remark = {};
};

/// Configurations with predicted or measured times, for comparison.
struct Alternatives {
    std::string title;            ///< "Candidates"
    std::string by;               ///< source of the times: "p3pc-extended on dell"
    std::vector<Alternative> all; ///< the first is highlighted as the chosen one
};

/// Sorts by measured or else predicted time, the fastest first.
void sort_by_time(Alternatives& alternatives);

/// Returns a chart of the intervals and a table of all alternatives; empty if all times are
/// unknown.
Section alternatives_section(const Alternatives& alternatives);

} // namespace sextant::report
