// SPDX-License-Identifier: BSD-3-Clause
// Shares of equal expected time, and values that go where they are due.
#include "sextant/core/error.hpp"
#include "sextant/scan/scan_configuration.hpp"
#include "sextant/scan/stealing.hpp"
#include "sextant/scan/strategies.hpp"

#include <limits>
#include <numeric>

#include "tests/support/random.hpp"
#include <gtest/gtest.h>

namespace sextant::scan {
namespace {

std::vector<Seconds> random_times(test::Random& random, Elements values) {
    std::vector<Seconds> times;
    for (Elements value = 0; value < values; ++value)
        times.push_back(random.chance(20) ? 0 : random.number(1, 50));
    return times;
}

TEST(ExpectedTimes, of_values_that_are_alike_deal_as_numbers_do) {
    for (Elements values = 0; values < 30; ++values) {
        for (int parts = 1; parts < 8; ++parts) {
            EXPECT_EQ(ExpectedTimes::alike(values).dealt(parts), dealt(values, parts));
            const std::vector<Seconds> nothing(static_cast<std::size_t>(values), 0);
            EXPECT_EQ(ExpectedTimes(nothing).dealt(parts), dealt(values, parts));
        }
    }
}

TEST(ExpectedTimes, are_shared_out_to_within_half_a_value_of_what_is_due) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        test::Random random(seed);
        const std::vector<Seconds> times = random_times(random, random.between(0, 60));
        const ExpectedTimes expected(times);
        const int parts = random.number(1, 9);
        const Series shares = expected.dealt(parts);
        ASSERT_EQ(shares.size(), static_cast<std::size_t>(parts));
        const auto most = times.empty() ? 0 : *std::max_element(times.begin(), times.end());
        Elements first = 0;
        for (int left = parts; left > 0; --left) {
            const Elements own = shares[static_cast<std::size_t>(parts - left)];
            const Elements rest = expected.values() - first;
            EXPECT_GE(own, std::min<Elements>(rest, 1)) << seed;
            if (own > 1 && rest - own > left - 1) { // neither bound to take one nor to leave some
                EXPECT_LE(std::abs(expected.of({first, first + own}) -
                                   expected.of({first, expected.values()}) / left),
                          most / 2)
                    << seed;
            }
            first += own;
        }
        EXPECT_EQ(first, expected.values()) << seed;
    }
}

TEST(ExpectedTimes, one_value_that_takes_long_is_a_share_of_its_own) {
    const std::vector<Seconds> times = {1, 1, 1, 1, 40, 1, 1, 1, 1, 1};
    EXPECT_EQ(ExpectedTimes(times).dealt(3), (Series{4, 1, 5}));
    EXPECT_EQ(ExpectedTimes(times).middle({0, 10}), 4);
    EXPECT_EQ(ExpectedTimes(times).middle({5, 10}), 7);
}

TEST(ExpectedTimes, that_are_none_are_refused) {
    const Seconds infinity = std::numeric_limits<Seconds>::infinity();
    for (const Seconds wrong : {-1., std::nan(""), infinity}) {
        const std::vector<Seconds> times = {1, wrong};
        EXPECT_THROW(ExpectedTimes{times}, InvalidTask) << wrong;
    }
    const std::vector<Seconds> too_large(2, std::numeric_limits<Seconds>::max());
    EXPECT_THROW(ExpectedTimes{too_large}, InvalidTask);
    const std::vector<Seconds> few(3, 1);
    EXPECT_THROW(scanned({2, 2}, Shares::by_time, few), InvalidTask);
    EXPECT_EQ(scanned({2, 2}, Shares::by_number, {}), (Series{2, 2}));
}

TEST(Redistribution, brings_every_value_to_its_place) {
    for (unsigned seed = 0; seed < 60; ++seed) {
        test::Random random(seed);
        const int ranks = random.number(1, 9);
        Series from;
        for (int rank = 0; rank < ranks; ++rank)
            from.push_back(random.between(0, 7));
        const Elements values = std::accumulate(from.begin(), from.end(), Elements{0});
        const Series to = ExpectedTimes(random_times(random, values)).dealt(ranks);
        for (const auto& [here, there] : {std::pair(from, to), std::pair(to, from)}) {
            const Schedule schedule =
                make_schedule(ranks, [&](int rank) { return redistribution(here, there, rank); });
            const Proof proof = prove(schedule, redistribution_claim(here, there));
            EXPECT_TRUE(proof.holds()) << seed << ": " << proof.error;
        }
    }
}

TEST(Redistribution, that_loses_a_value_is_found_out) {
    const Series from = {3, 1}, to = {1, 3}, other = {2, 2};
    const Schedule schedule =
        make_schedule(2, [&](int rank) { return redistribution(from, to, rank); });
    EXPECT_FALSE(prove(schedule, redistribution_claim(from, other)).holds());
    EXPECT_THROW(redistribution(from, {1, 2}, 0), std::logic_error);
}

} // namespace
} // namespace sextant::scan
