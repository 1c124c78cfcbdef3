// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/matching.hpp"
#include "sextant/schedule/program.hpp"

#include <vector>

namespace sextant::report {

/// The logical time of a schedule: level 0 holds what can happen at once, level n + 1 what can
/// happen when level n has.
struct Levels {
    int count = 0;
    std::vector<std::vector<int>> of; ///< by rank and step
};

/// Plays all ranks as soon as possible: every message, fold and copy takes one level, and a message
/// passes when both sides are ready for it. Ranks send and receive any number at once.
///
/// Input     all ranks' programs, and `mates` from match_messages.
/// Requires  a schedule that finishes; otherwise throws std::logic_error naming the ranks that
/// wait.
Levels levels(const Schedule& schedule, const std::vector<std::vector<StepOfRank>>& mates);

} // namespace sextant::report
