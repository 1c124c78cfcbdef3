// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/trace.hpp"

#include <span>
#include <string>

namespace sextant::report {

/// What is to be known of times that were taken on several clocks: how they were aligned, or, where
/// nothing is known of them, that they cannot be compared. Empty for one clock.
std::string clocks_text(int clocks, std::span<const ClockOffset> aligned);

} // namespace sextant::report
