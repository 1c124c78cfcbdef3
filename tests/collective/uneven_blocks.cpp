// SPDX-License-Identifier: BSD-3-Clause
// Every algorithm on blocks of uneven lengths, some of them empty.
#include "sextant/collective/catalogue.hpp"
#include "sextant/collective/scatter_gather.hpp"

#include <algorithm>

#include "tests/support/random.hpp"
#include "tests/support/schedules.hpp"
#include <gtest/gtest.h>

namespace sextant::collective {
namespace {

std::vector<Elements> lengths(test::Random& random, int count) {
    std::vector<Elements> lengths;
    for (int i = 0; i < count; ++i)
        lengths.push_back(std::max<Elements>(0, random.number(-2, 5)));
    return lengths;
}

/// Offsets of the blocks if the last block is stored first.
std::vector<Elements> last_first(const std::vector<Elements>& lengths) {
    std::vector<Elements> firsts;
    Elements end = lengths.back();
    for (const Elements length : lengths) {
        firsts.push_back(end);
        end += length;
    }
    firsts.back() = 0;
    return firsts;
}

void prove_uneven(const Algorithm& algorithm, const Partition& data, const Claim& claim) {
    const Schedule schedule =
        make_schedule(data.ranks(), [&](int rank) { return algorithm.program(data, rank); });
    EXPECT_EQ(prove(schedule, claim).error, "") << algorithm.name << ", " << data.ranks();
}

TEST(UnevenBlocks, are_scattered_and_gathered_by_every_algorithm) {
    test::Random random(7);
    for (const Algorithm& algorithm : catalogue()) {
        if (algorithm.what == CollectiveKind::broadcast ||
            algorithm.what == CollectiveKind::all_to_all)
            continue;
        for (int p = 1; p <= 13; ++p) {
            const std::vector<Elements> own = lengths(random, p);
            for (const Partition& data :
                 {Partition::blocks(own), Partition::blocks(own, last_first(own))})
                prove_uneven(algorithm, data, algorithm.claim(data));
        }
    }
}

/// Value of element e of the block that rank `from` sends to rank `to`.
constexpr Elements number(int from, int to, Elements e) {
    return (Elements{from} * 100 + to) * 100 + e;
}

Claim pairs_claim(const std::vector<Elements>& lengths, int p) {
    const auto listed = [=](int rank, bool sent) {
        std::vector<Symbol> symbols;
        for (int other = 0; other < p; ++other) {
            const int from = sent ? rank : other, to = sent ? other : rank;
            for (Elements e = 0; e < lengths[static_cast<std::size_t>(from * p + to)]; ++e)
                symbols.push_back({number(from, to, e), 0, 1, 0});
        }
        return symbols;
    };
    return {[=](int rank, int, Elements e) { return listed(rank, true)[std::size_t(e)]; },
            test::exactly([=](int rank) { return listed(rank, false); }),
            {}};
}

TEST(UnevenBlocks, are_exchanged_all_to_all_by_every_algorithm) {
    test::Random random(11);
    for (const Algorithm& algorithm : catalogue()) {
        if (algorithm.what != CollectiveKind::all_to_all)
            continue;
        for (int p = 1; p <= 13; ++p) {
            const std::vector<Elements> own = lengths(random, p * p);
            prove_uneven(algorithm, Partition::pairs(p, own), pairs_claim(own, p));
        }
    }
}

TEST(UnevenBlocks, are_combined_by_every_reduction) {
    test::Random random(13);
    for (const Algorithm& algorithm : reductions()) {
        for (int p = 1; p <= 13; ++p) {
            const std::vector<Elements> own = lengths(random, p);
            for (const Partition& data :
                 {Partition::blocks(own), Partition::blocks(own, last_first(own))})
                prove_uneven(algorithm, data, algorithm.claim(data));
        }
    }
}

TEST(UnevenBlocks, are_not_sent_if_empty) {
    const Partition data = Partition::blocks({2, 0, 0, 3, 0});
    const Schedule schedule = make_schedule(5, [&](int rank) { return flat_gather(data, rank); });
    EXPECT_EQ(prove(schedule, claim_of(CollectiveKind::gather, data)).messages, 1);
}

TEST(UnevenBlocks, are_sent_as_one_region_per_message_if_all_lengths_are_equal) {
    const Partition data = Partition::blocks(std::vector<Elements>(8, 5));
    const Program root = binomial_scatter(data, 0);
    for (const Step& step : root.steps)
        EXPECT_EQ(step.count, 1u);
}

} // namespace
} // namespace sextant::collective
