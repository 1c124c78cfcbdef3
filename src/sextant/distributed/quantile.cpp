// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/distributed/quantile.hpp"

#include "sextant/core/units.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace sextant {

namespace {

constexpr int digits = 4, bits = 8;
using Counts = std::array<Elements, 1 << bits>;

/// Of the values that begin with the digits found so far, how many have which next.
Counts counts_of(const Communicator& communicator, std::span<const float> values,
                 std::uint32_t found, int digit) {
    Counts mine{};
    const int shift = bits * (digits - 1 - digit);
    for (const float value : values) {
        // Values from 0 on are in the order of their bits.
        const auto code = std::bit_cast<std::uint32_t>(value);
        const bool alike = digit == 0 || code >> (shift + bits) == found;
        if (alike && !std::isnan(value))
            ++mine[code >> shift & ((1U << bits) - 1)];
    }
    Counts all{};
    for (const Counts& some : communicator.all_gather(mine)) {
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i] += some[i];
    }
    return all;
}

} // namespace

float quantile(const Communicator& communicator, std::span<const float> values, double share) {
    std::uint32_t found = 0;
    Elements wanted = 0;
    for (int digit = 0; digit < digits; ++digit) {
        const Counts counts = counts_of(communicator, values, found, digit);
        if (digit == 0) {
            Elements all = 0;
            for (const Elements count : counts)
                all += count;
            if (all == 0)
                return 0;
            wanted = static_cast<Elements>(share * static_cast<double>(all - 1));
        }
        std::uint32_t next = 0;
        while (wanted >= counts[next])
            wanted -= counts[next++];
        found = found << bits | next;
    }
    return std::bit_cast<float>(found);
}

} // namespace sextant
