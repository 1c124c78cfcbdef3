// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/stealing.hpp"
#include "sextant/scan/strategies.hpp"

#include <cstdint>
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

/// How values are shared out, where it is known beforehand how long each takes (ExpectedTimes).
enum class Shares : std::uint8_t {
    by_number,           ///< values count alike
    by_time,             ///< a rank's threads begin with shares of equal expected time
    by_time_across_ranks ///< ranks too: values go where they are due, and results come back
};

struct NamedShares {
    std::string_view name, summary;
    Shares shares;
};

std::span<const NamedShares> all_shares();
std::string_view name(Shares shares);
/// By name. Throws InvalidTask with near names.
Shares find_shares(std::string_view name);

/// How a series is scanned: a strategy over a global scan, on so many threads a rank.
struct Way {
    const Strategy& strategy;
    GlobalScan global;
    int threads = 1;
    Boundaries boundaries = Boundaries::moving; ///< of more than one thread
    Shares shares = Shares::by_number;
};

/// Throws InvalidTask unless there is a thread, and more than one only with reduce-then-scan: a
/// reduction alone may be bracketed freely.
void check(const Way& way);

/// Which values each rank scans, of a series that lies at the ranks: those it has, unless they are
/// dealt anew.
/// Input     the expected time of every value of the series, in order, where shares go by time.
/// Throws    InvalidTask: another number of times than of values, or what ExpectedTimes refuses.
Series scanned(const Series& series, Shares shares, std::span<const Seconds> expected);

/// What is expected of some of those values, that one rank scans: its threads share them so.
ExpectedTimes expected_on_rank(const Series& scanned, int rank, Shares shares,
                               std::span<const Seconds> expected);

/// "reduce-then-scan over ladner-fischer, k = 1, 8 threads, boundaries moving, shares by-time".
std::string to_text(const Way& way);

} // namespace sextant::scan
