// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/schedule/trace.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::report {

/// Where what a trace tells comes from.
enum class Origin : std::uint8_t { measured, predicted, simulated };

std::string_view name(Origin origin);

/// What all ranks did in one run, with what it takes to show it beside others.
struct Recording {
    std::string name; ///< "radix-k, radices 4,2"
    Origin origin = Origin::measured;
    int ranks = 0;
    Bytes element_size = 0; ///< of what messages carry; 0: not known
    int clocks = 1;         ///< how many clocks its times were taken on
    /// How these were aligned; empty where they were not, or there is one.
    std::vector<ClockOffset> aligned = {};
    /// Whether messages are loans of memory that ranks share (`Loans`): they arrive at once, and
    /// last for their sender until they are given back.
    bool lent = false;
    Trace trace;

    /// "radix-k, radices 4,2 (predicted)".
    std::string title() const;
};

} // namespace sextant::report
