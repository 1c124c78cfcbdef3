// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/region.hpp"

#include <algorithm>
#include <string>

#include "tests/support/footprint.hpp"
#include "tests/support/random.hpp"
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using test::elements_in_order;
using test::Random;

Region random_strided(Random& random) {
    return {random.number(0, 1), random.between(0, 40), random.between(0, 6), random.between(1, 9),
            random.between(0, 7)};
}

std::string text(const Region& r) {
    return fmt::format("{{{}, {}, {}, {}, {}}}", r.buffer, r.offset, r.length, r.stride, r.count);
}

bool share_an_element(const Region& a, const Region& b) {
    if (a.buffer != b.buffer)
        return false;
    const auto of_a = elements_in_order(a), of_b = elements_in_order(b);
    return std::any_of(of_a.begin(), of_a.end(), [&](Elements e) {
        return std::find(of_b.begin(), of_b.end(), e) != of_b.end();
    });
}

TEST(Region, numbers_its_elements_run_by_run) {
    Random random(1);
    for (int trial = 0; trial < 5000; ++trial) {
        const Region region = random_strided(random);
        const auto elements = elements_in_order(region);
        ASSERT_EQ(region.elements(), static_cast<Elements>(elements.size())) << text(region);
        ASSERT_EQ(region.empty(), elements.empty()) << text(region);
        for (std::size_t e = 0; e < elements.size(); ++e) {
            ASSERT_EQ(region.at(static_cast<Elements>(e)), elements[e]) << text(region);
        }
        if (elements.empty())
            continue;
        ASSERT_EQ(region.end(), *std::max_element(elements.begin(), elements.end()) + 1)
            << text(region);
        const bool gapless = elements.back() - elements.front() + 1 == region.elements();
        ASSERT_EQ(region.contiguous(), gapless) << text(region);
    }
}

TEST(Region, overlap_is_exact_on_random_strided_regions) {
    Random random(2);
    int overlapping = 0;
    for (int trial = 0; trial < 200000; ++trial) {
        const Region a = random_strided(random), b = random_strided(random);
        const bool expected = share_an_element(a, b);
        ASSERT_EQ(overlap(a, b), expected) << text(a) << " and " << text(b);
        ASSERT_EQ(overlap(b, a), expected) << text(b) << " and " << text(a);
        overlapping += expected;
    }
    EXPECT_GT(overlapping, 20000);
}

TEST(Region, overlap_visits_only_the_runs_of_the_region_with_fewer_runs) {
    const Elements many = Elements{1} << 40; // visiting every run would take forever
    const Region tall{0, 0, 1, 3, many};
    EXPECT_FALSE(overlap(tall, Region{0, 3 * (many / 2) + 1, 2, 5, 1}));
    EXPECT_TRUE(overlap(tall, Region{0, 3 * (many / 2) + 1, 3, 5, 1}));
    EXPECT_FALSE(overlap(Region{0, 1, 1, 9, 100}, tall));
    EXPECT_TRUE(overlap(Region{0, 1, 1, 8, 100}, tall));
}

TEST(Region, overlap_is_exact_on_random_regions_of_equal_stride) {
    Random random(4);
    int overlapping = 0, apart = 0;
    for (int trial = 0; trial < 50000; ++trial) {
        Region a = random_strided(random), b = random_strided(random);
        a.buffer = b.buffer;
        a.stride = b.stride = std::max({a.length, b.length, a.stride, b.stride});
        const bool expected = share_an_element(a, b);
        ASSERT_EQ(overlap(a, b), expected) << text(a) << " and " << text(b);
        ASSERT_EQ(overlap(b, a), expected) << text(b) << " and " << text(a);
        overlapping += expected, apart += !expected;
    }
    EXPECT_GT(overlapping, 10000);
    EXPECT_GT(apart, 10000);
}

TEST(Region, overlap_of_columns_takes_constant_time) {
    // Visiting every run would take forever.
    const Elements width = 1000, many = Elements{1} << 40;
    const Region left{0, 0, 500, width, many};
    EXPECT_FALSE(overlap(left, Region{0, width * (many / 2) + 500, 500, width, many}));
    EXPECT_TRUE(overlap(left, Region{0, width * (many / 2) + 499, 500, width, many}));
}

TEST(Region, covers_requires_a_contiguous_region_that_contains_every_element) {
    Random random(3);
    int covering = 0;
    for (int trial = 0; trial < 200000; ++trial) {
        const Region outer = random.chance(50)
                                 ? block(random.number(0, 1), random.between(0, 20), 30)
                                 : random_strided(random);
        const Region inner = random_strided(random);
        if (outer.empty() || inner.empty())
            continue;
        const auto held = elements_in_order(outer);
        const auto needed = elements_in_order(inner);
        const bool holds = outer.buffer == inner.buffer &&
                           std::all_of(needed.begin(), needed.end(), [&](Elements e) {
                               return std::find(held.begin(), held.end(), e) != held.end();
                           });
        ASSERT_EQ(covers(outer, inner), outer.contiguous() && holds)
            << text(outer) << " and " << text(inner);
        covering += outer.contiguous() && holds;
    }
    EXPECT_GT(covering, 5000);
}

TEST(Region, parts_cover_the_region_once_in_order_with_nearly_equal_sizes) {
    for (Elements length = 0; length <= 40; ++length) {
        for (int parts = 1; parts <= 50; ++parts) {
            Elements next = 7;
            for (int i = 0; i < parts; ++i) {
                const Region piece = part(block(3, 7, length), i, parts);
                ASSERT_EQ(piece.buffer, 3);
                ASSERT_EQ(piece.offset, next);
                ASSERT_TRUE(piece.contiguous());
                ASSERT_GE(piece.length, length / parts);
                ASSERT_LE(piece.length, (length + parts - 1) / parts);
                next = piece.end();
            }
            ASSERT_EQ(next, 7 + length);
        }
    }
}

TEST(Region, parts_of_a_huge_region_do_not_overflow) {
    const Elements length = Elements{1} << 44; // a 4-million-pixel-wide square
    Elements next = 0;
    for (int i = 0; i < 16384; ++i) {
        const Region piece = part(block(0, 0, length), i, 16384);
        ASSERT_EQ(piece.offset, next);
        next = piece.end();
    }
    EXPECT_EQ(next, length);
}

TEST(Region, adjacent_runs_form_a_contiguous_region_that_can_be_divided) {
    const Region runs{0, 4, 3, 3, 5};
    EXPECT_TRUE(runs.contiguous());
    EXPECT_EQ(part(runs, 1, 3), block(0, 9, 5));
}

} // namespace
} // namespace sextant
