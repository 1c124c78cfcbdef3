// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/scan_configuration.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"
#include "sextant/scan/strategies.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include <fmt/format.h>

namespace sextant::scan {

namespace {

constexpr NamedBoundaries rows[] = {
    {"fixed", "each thread keeps its share", Boundaries::fixed},
    {"moving", "a thread helps where its neighbour would need longest", Boundaries::moving},
    {"towards-slower", "a thread helps the neighbour that takes longer an application",
     Boundaries::towards_slower},
};

constexpr NamedShares shares_rows[] = {
    {"by-number", "values count alike", Shares::by_number},
    {"by-time", "threads begin with shares of equal expected time", Shares::by_time},
    {"by-time-across-ranks", "ranks have shares of equal expected time too",
     Shares::by_time_across_ranks},
};

} // namespace

std::span<const NamedBoundaries> all_boundaries() {
    return rows;
}

std::string_view name(Boundaries boundaries) {
    return std::find_if(std::begin(rows), std::end(rows),
                        [&](const auto& row) { return row.boundaries == boundaries; })
        ->name;
}

Boundaries find_boundaries(std::string_view name) {
    return find_by_name<NamedBoundaries>("boundaries", name, rows).boundaries;
}

std::span<const NamedShares> all_shares() {
    return shares_rows;
}

std::string_view name(Shares shares) {
    return std::find_if(std::begin(shares_rows), std::end(shares_rows),
                        [&](const auto& row) { return row.shares == shares; })
        ->name;
}

Shares find_shares(std::string_view name) {
    return find_by_name<NamedShares>("shares", name, shares_rows).shares;
}

void check(const Way& way) {
    if (way.threads < 1)
        throw InvalidTask(fmt::format("{} threads a rank: expected 1 or more", way.threads));
    if (way.threads > 1 && way.strategy.program != reduce_then_scan) {
        throw InvalidTask(fmt::format("{} on {} threads a rank: expected reduce-then-scan, or 1 "
                                      "thread",
                                      way.strategy.name, way.threads));
    }
}

Series scanned(const Series& series, Shares shares, std::span<const Seconds> expected) {
    if (shares == Shares::by_number)
        return series;
    const auto values = std::accumulate(series.begin(), series.end(), Elements{0});
    if (static_cast<Elements>(expected.size()) != values) {
        throw InvalidTask(fmt::format("{} expected times of {} values: expected one for each",
                                      expected.size(), values));
    }
    const Series dealt = ExpectedTimes(expected).dealt(static_cast<int>(series.size()));
    return shares == Shares::by_time ? series : dealt;
}

ExpectedTimes expected_on_rank(const Series& scanned, int rank, Shares shares,
                               std::span<const Seconds> expected) {
    const auto own = static_cast<std::size_t>(scanned[static_cast<std::size_t>(rank)]);
    if (shares == Shares::by_number)
        return ExpectedTimes::alike(static_cast<Elements>(own));
    const auto first = std::accumulate(scanned.begin(), scanned.begin() + rank, Elements{0});
    return ExpectedTimes(expected.subspan(static_cast<std::size_t>(first), own));
}

std::string to_text(const Way& way) {
    std::string text = fmt::format("{} over {}", way.strategy.name,
                                   to_text(way.global.algorithm, way.global.tuning));
    if (way.threads > 1)
        text += fmt::format(", {} threads, boundaries {}", way.threads, name(way.boundaries));
    if (way.shares != Shares::by_number)
        text += fmt::format(", shares {}", name(way.shares));
    return text;
}

} // namespace sextant::scan
