// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/matching.hpp"
#include "sextant/schedule/program.hpp"

#include <stdexcept>
#include <string_view>

namespace sextant {

/// What is wrong with a step of a schedule, to be thrown: "rank 3, step 5 (receive from rank 1):
/// WHAT".
std::logic_error fault(const Schedule& schedule, StepOfRank at, std::string_view what);

} // namespace sextant
