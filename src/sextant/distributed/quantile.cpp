// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/distributed/quantile.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace sextant {

namespace {

// A code has 32 bits: a pass counts values by half of them, and is told to others by a quarter.
constexpr int half = 16, quarter = 8;
constexpr std::size_t digits = 1U << half, groups = 1U << quarter;
using Group = std::array<Elements, groups>;

/// Values from 0 on are in the order of their bits.
std::uint32_t code_of(float value) {
    return std::bit_cast<std::uint32_t>(value);
}

Group sum_of_all(const Communicator& communicator, const Group& mine) {
    Group all{};
    for (const Group& some : communicator.all_gather(mine))
        std::ranges::transform(all, some, all.begin(), std::plus<>());
    return all;
}

/// The first group in which there are more values than `place`, which becomes that within it.
std::uint32_t group_of(const Group& counts, Elements& place) {
    std::uint32_t group = 0;
    while (place >= counts[group])
        place -= counts[group++];
    return group;
}

/// The digit of the value at a place, by what all ranks count; the place becomes that among its
/// equals.
std::uint32_t digit_of(const Communicator& communicator, std::span<const Elements> counts,
                       Elements& place) {
    Group sums;
    for (std::size_t group = 0; group < groups; ++group) {
        const auto first = counts.begin() + static_cast<std::ptrdiff_t>(group * groups);
        sums[group] = std::accumulate(first, first + groups, Elements{0});
    }
    const std::uint32_t upper = group_of(sum_of_all(communicator, sums), place);
    Group single;
    std::copy_n(counts.begin() + upper * groups, groups, single.begin());
    return upper << quarter | group_of(sum_of_all(communicator, single), place);
}

Elements sum_of_all(const Communicator& communicator, Elements mine) {
    const std::vector<Elements> all = communicator.all_gather(mine);
    return std::accumulate(all.begin(), all.end(), Elements{0});
}

} // namespace

Quantiles::Quantiles(std::vector<double> shares) : leading_(digits, 0) {
    for (const double share : shares)
        sought_.push_back({share, 0, 0, false, Counts(digits, 0)});
}

void Quantiles::add(std::span<const float> values) {
    for (const float value : values) {
        if (std::isnan(value))
            continue;
        const std::uint32_t code = code_of(value), leading = code >> half;
        if (pass_ == 0) {
            ++leading_[leading];
            continue;
        }
        for (Sought& sought : sought_) {
            if (leading == sought.found)
                ++sought.counts[code & (digits - 1)];
        }
    }
}

void Quantiles::end_pass(const Communicator& communicator) {
    if (pass_++ == 0) {
        const Elements all = sum_of_all(
            communicator, std::accumulate(leading_.begin(), leading_.end(), Elements{0}));
        for (Sought& sought : sought_) {
            sought.nothing = all == 0;
            if (sought.nothing)
                continue;
            sought.place = static_cast<Elements>(sought.share * static_cast<double>(all - 1));
            sought.found = digit_of(communicator, leading_, sought.place);
        }
        return;
    }
    for (Sought& sought : sought_) {
        if (!sought.nothing)
            sought.found =
                sought.found << half | digit_of(communicator, sought.counts, sought.place);
    }
}

float Quantiles::value(std::size_t share) const {
    return std::bit_cast<float>(sought_[share].found);
}

std::vector<float> quantiles(const Communicator& communicator, std::span<const float> values,
                             std::vector<double> shares) {
    const std::size_t count = shares.size();
    Quantiles found(std::move(shares));
    for (int pass = 0; pass < Quantiles::passes; ++pass) {
        found.add(values);
        found.end_pass(communicator);
    }
    std::vector<float> made;
    for (std::size_t i = 0; i < count; ++i)
        made.push_back(found.value(i));
    return made;
}

} // namespace sextant
