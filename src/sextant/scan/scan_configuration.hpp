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
/// Finds a rule by name. Throws InvalidTask with similar names.
Boundaries find_boundaries(std::string_view name);

/// The configuration of a scan of a series: a strategy with a global scan, and threads per rank.
struct Way {
    const Strategy& strategy;
    GlobalScan global;
    int threads = 1;
    Boundaries boundaries = Boundaries::moving; ///< with more than one thread
};

/// Throws InvalidTask unless there is at least one thread, and more than one only with
/// reduce-then-scan: only a reduction may be bracketed freely.
void check(const Way& way);

/// A short text: "reduce-then-scan over ladner-fischer, k = 1, 8 threads, boundaries moving".
std::string to_text(const Way& way);

} // namespace sextant::scan
