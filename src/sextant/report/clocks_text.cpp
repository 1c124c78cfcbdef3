// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/clocks_text.hpp"

#include "sextant/report/text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sextant::report {

std::string clocks_text(int clocks, std::span<const ClockOffset> aligned) {
    constexpr std::size_t most_named = 4;
    if (clocks < 2)
        return "";
    if (aligned.size() < 2)
        return fmt::format("The clocks of {} hosts cannot be compared: on each, time starts with "
                           "its first rank",
                           clocks);
    Seconds uncertainty = 0;
    for (const ClockOffset& clock : aligned)
        uncertainty = std::max(uncertainty, clock.uncertainty);
    std::string text = fmt::format("The clocks of {} hosts were aligned to within {}", clocks,
                                   to_text(uncertainty));
    for (std::size_t i = 1; i < std::min(aligned.size(), most_named + 1); ++i)
        text += fmt::format("{} rank {}'s was {} {}", i == 1 ? ":" : ",", aligned[i].first_rank,
                            to_text(std::abs(aligned[i].offset)),
                            aligned[i].offset > 0 ? "behind rank 0's" : "ahead of rank 0's");
    return text + (aligned.size() > most_named + 1 ? ", and so on" : "");
}

} // namespace sextant::report
