// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/matching.hpp"
#include "sextant/schedule/program.hpp"

#include <string>

namespace sextant::report {

/// A step in words: "rank 3, step 5: send to rank 1, round 0, group 0, 512 elements", then a line
/// for each of its regions, the first eight of them.
std::string describe(const Schedule& schedule, StepOfRank at);

} // namespace sextant::report
