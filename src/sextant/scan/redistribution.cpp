// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/redistribution.hpp"

#include "sextant/scan/application.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::scan {

namespace {

/// By rank, which values of the series it has.
std::vector<Interval> places(const Series& series) {
    std::vector<Interval> all;
    Elements first = 0;
    for (const Elements own : series) {
        all.push_back({first, first + own});
        first += own;
    }
    return all;
}

/// What two have in common, as a part of a region that holds the first.
Region common(const Region& region, const Interval& own, const Interval& other) {
    const Elements first = std::max(own.first, other.first);
    const Elements last = std::min(own.last, other.last);
    return block(region.buffer, first - own.first, std::max<Elements>(0, last - first));
}

} // namespace

Program redistribution(const Series& from, const Series& to, int rank) {
    const std::vector<Interval> given = places(from), wanted = places(to);
    if (given.size() != wanted.size() ||
        (!given.empty() && given.back().last != wanted.back().last))
        throw std::logic_error("a redistribution to another number of ranks or values");
    const auto own = static_cast<std::size_t>(rank);
    ProgramBuilder builder;
    const Region input = builder.input(from[own]), output = builder.output(to[own]);
    for (std::size_t other = 0; other < given.size(); ++other) {
        const Region out = common(input, given[own], wanted[other]);
        const Region in = common(output, wanted[own], given[other]);
        if (other == own) {
            builder.copy(in, out);
        } else {
            builder.send(static_cast<int>(other), out);
            builder.receive(static_cast<int>(other), in);
        }
    }
    return builder.finish(output);
}

Claim redistribution_claim(const Series& from, const Series& to) {
    const auto symbol = [](const std::vector<Interval>& all, int rank, Elements e) {
        const auto value = static_cast<int>(all[static_cast<std::size_t>(rank)].first + e);
        return Symbol{0, value, value + 1, 0};
    };
    Claim claim;
    claim.given = [given = places(from), symbol](int rank, int, Elements e) {
        return symbol(given, rank, e);
    };
    claim.wanted = [wanted = places(to), symbol](int rank,
                                                 const std::vector<Symbol>& result) -> std::string {
        const Interval& own = wanted[static_cast<std::size_t>(rank)];
        if (static_cast<Elements>(result.size()) != own.last - own.first)
            return fmt::format("holds {} values, expected {}", result.size(), own.last - own.first);
        for (std::size_t i = 0; i < result.size(); ++i) {
            const Symbol expected = symbol(wanted, rank, static_cast<Elements>(i));
            if (!result[i].same_value(expected))
                return fmt::format("value {} is [{}, {}), expected [{}, {})", i, result[i].first,
                                   result[i].last, expected.first, expected.last);
        }
        return "";
    };
    return claim;
}

} // namespace sextant::scan
