// SPDX-License-Identifier: BSD-3-Clause
// MPI's reductions as schedules: proved if they combine operands in order, otherwise counted.
#include "papers/mpi_reductions.hpp"

#include "sextant/schedule/builder.hpp"
#include "sextant/schedule/prove.hpp"

#include <gtest/gtest.h>

namespace sextant::papers {
namespace {

using Reduction = Program (*)(Elements, int, int);

constexpr Elements elements = 32;

Schedule schedule_of(Reduction reduction, int ranks) {
    return make_schedule(ranks, [&](int rank) { return reduction(elements, ranks, rank); });
}

/// Each rank contributes one vector and ends with `each` elements of the sum of all vectors: its
/// own part, or the whole sum if `of_all`.
Claim sums(int ranks, Elements each, bool of_all) {
    Claim claim;
    claim.given = [](int rank, int, Elements element) { return Symbol{element, rank, rank + 1}; };
    claim.wanted = [=](int rank, const std::vector<Symbol>& result) -> std::string {
        const Elements first = of_all ? 0 : rank * each;
        if (static_cast<Elements>(result.size()) != each)
            return "a result of another size";
        for (Elements i = 0; i < each; ++i) {
            if (!result[static_cast<std::size_t>(i)].same_value({first + i, 0, ranks}))
                return "not the sum of all";
        }
        return "";
    };
    return claim;
}

TEST(MpiReductions, by_recursive_doubling_combine_all_operands_in_order) {
    for (const int ranks : {2, 4, 8, 32}) {
        const Proof whole =
            prove(schedule_of(recursive_doubling_allreduce, ranks), sums(ranks, elements, true));
        EXPECT_EQ(whole.error, "") << ranks;
        const Proof blocks = prove(schedule_of(recursive_doubling_reduce_scatter, ranks),
                                   sums(ranks, elements / ranks, false));
        EXPECT_EQ(blocks.error, "") << ranks;
        EXPECT_LT(blocks.moved, whole.moved) << ranks;
        const Proof halved =
            prove(schedule_of(halving_doubling_allreduce, ranks), sums(ranks, elements, true));
        EXPECT_EQ(halved.error, "") << ranks;
        EXPECT_EQ(halved.moved, 2 * elements * (ranks - 1)) << ranks;
    }
    EXPECT_NE(prove(schedule_of(recursive_doubling_reduce_scatter, 4), sums(4, 8, true)).error, "");
}

TEST(MpiReductions, by_pairwise_exchange_send_and_combine_each_block_once) {
    constexpr int ranks = 8;
    for (const Program& program : schedule_of(pairwise_reduce_scatter, ranks)) {
        Elements sent = 0, folds = 0;
        for (const Step& step : program.steps) {
            sent += step.verb == Verb::send ? program.elements_of(step) : 0;
            folds += step.verb == Verb::fold;
        }
        EXPECT_EQ(sent, elements * (ranks - 1) / ranks);
        EXPECT_EQ(folds, ranks - 1);
    }
}

} // namespace
} // namespace sextant::papers
