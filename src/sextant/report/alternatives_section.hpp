// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/report/page.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sextant::report {

/// A time, and the interval in which it lies.
struct TimeRange {
    Seconds seconds = 0, low = 0, high = 0;
};

/// A way to do something: what it was expected to take, and what it took.
struct Alternative {
    std::string name;
    std::optional<TimeRange> predicted = {}, measured = {};
    std::optional<Seconds> bound = {}; ///< no run is predicted to take less
    std::string remark = {};
};

/// Ways that were weighed or tried, beside each other.
struct Alternatives {
    std::string title;            ///< "What was weighed"
    std::string by;               ///< who predicted and what was measured: "p3pc-extended on dell"
    std::vector<Alternative> all; ///< the first stands out, as the one that was chosen
};

/// By what they took, or were to take: the fastest first.
void sort_by_time(Alternatives& alternatives);

/// The alternatives as a picture, intervals beside each other, and all of them as a table; nothing
/// where nothing is known of any.
Section alternatives_section(const Alternatives& alternatives);

} // namespace sextant::report
