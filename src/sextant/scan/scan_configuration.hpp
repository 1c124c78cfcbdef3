// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/stealing.hpp"
#include "sextant/scan/strategies.hpp"

#include <span>
#include <string>
#include <string_view>

namespace sextant::scan {

struct NamedBoundaries {
    std::string_view name, summary;
    Boundaries boundaries;
};

std::span<const NamedBoundaries> all_boundaries();
std::string_view name(Boundaries boundaries);
/// By name. Throws InvalidTask with near names.
Boundaries find_boundaries(std::string_view name);

/// How a series is scanned: a strategy over a global scan, on so many threads a rank.
struct Way {
    const Strategy& strategy;
    GlobalScan global;
    int threads = 1;
    Boundaries boundaries = Boundaries::moving; ///< of more than one thread
};

/// Throws InvalidTask unless there is a thread, and more than one only with reduce-then-scan: a
/// reduction alone may be bracketed freely.
void check(const Way& way);

/// "reduce-then-scan over ladner-fischer, k = 1, 8 threads, boundaries moving".
std::string to_text(const Way& way);

} // namespace sextant::scan
