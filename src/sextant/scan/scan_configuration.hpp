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
/// Finds a rule by name. Throws InvalidTask with similar names.
Boundaries find_boundaries(std::string_view name);

/// How values are partitioned if their expected times are known in advance (ExpectedTimes).
enum class Shares : std::uint8_t {
    by_number,           ///< all values count alike
    by_time,             ///< threads of a rank begin with shares of equal expected time
    by_time_across_ranks ///< also across ranks: values are sent to other ranks, and results back
};

struct NamedShares {
    std::string_view name, summary;
    Shares shares;
};

std::span<const NamedShares> all_shares();
std::string_view name(Shares shares);
/// Finds a rule by name. Throws InvalidTask with similar names.
Shares find_shares(std::string_view name);

/// The configuration of a scan of a series: a strategy with a global scan, and threads per rank.
struct Way {
    const Strategy& strategy;
    GlobalScan global;
    int threads = 1;
    Boundaries boundaries = Boundaries::moving; ///< with more than one thread
    Shares shares = Shares::by_number;
};

/// Throws InvalidTask unless there is at least one thread, and more than one only with
/// reduce-then-scan: only a reduction may be bracketed freely.
void check(const Way& way);

/// The number of values that each rank scans: those that it has, unless shares go by time across
/// ranks.
/// Input     with shares by time, the expected time of every value of the series, in order.
/// Throws    InvalidTask if the number of times differs from the number of values, or ExpectedTimes
///           throws it.
Series scanned(const Series& series, Shares shares, std::span<const Seconds> expected);

/// The expected times of the values that one rank scans, for dividing them among its threads.
ExpectedTimes expected_on_rank(const Series& scanned, int rank, Shares shares,
                               std::span<const Seconds> expected);

/// A short text: "reduce-then-scan over ladner-fischer, k = 1, 8 threads, boundaries moving, shares
/// by-time".
std::string to_text(const Way& way);

} // namespace sextant::scan
