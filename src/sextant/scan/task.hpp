// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/schedule/program.hpp"

#include <string>

namespace sextant::scan {

/// Which values a rank ends up with.
enum class Form {
    inclusive, ///< the combination of the values up to its own
    exclusive, ///< of those before its own; rank 0, which has none, ends up with nothing
    both
};

std::string_view name(Form form);

/// What is asked: combine each rank's value with those of the ranks before it, in rank order.
struct Task {
    int ranks = 1;
    Elements elements = 1; ///< values a rank has, each scanned across the ranks on its own
    Form form = Form::inclusive;
};

/// The freedom an algorithm leaves.
struct Tuning {
    int k = 0; ///< Ladner-Fischer: rounds more than the fewest, to save applications

    bool operator==(const Tuning&) const = default;
};

/// What a rank knows after a scan: the combination of the values before its own, and of those up to
/// its own. Empty where there is none, or it was not asked for.
struct Prefixes {
    Region before, through;
};

/// Throws InvalidTask unless there are ranks, no negative number of elements, and one form: a
/// program has one result.
void check(const Task& task);

} // namespace sextant::scan
