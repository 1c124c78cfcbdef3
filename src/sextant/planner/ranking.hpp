// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/planner/choose.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::planner {

/// A candidate that is being weighed among others.
struct Entry {
    Weighed weighed;
    Seconds expected = 0;      ///< what a rank alone is predicted to take: near it, but no bound
    std::int64_t messages = 0; ///< about so many, of all ranks
    Elements largest = 0;      ///< message of the rank that is looked at
    bool repeats = false;      ///< an earlier candidate
};

/// Orders candidates that were weighed, the best first, and says why the first was chosen and which
/// might be as fast. What was not walked is placed as if it lay above what is expected of it as far
/// as any that was; what repeats another, and what no model has words for, comes last.
///
/// Requires  one entry or more; throws model::CannotExpress if none of them has a bound.
Choice ranked(std::vector<Entry> entries, std::string_view model, std::string_view machine);

/// A line for people: the fastest of so many, which `rivals` with itself might be, by predictions
/// of so many.
std::string reason_of(int candidates, std::string_view model, std::string_view machine, int rivals,
                      int walked);

} // namespace sextant::planner
