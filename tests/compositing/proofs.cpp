// SPDX-License-Identifier: BSD-3-Clause
// Proves every algorithm of the catalogue; new algorithms are tested automatically.
#include "sextant/compositing/catalogue.hpp"
#include "sextant/compositing/direct_algorithms.hpp"
#include "sextant/compositing/swap_algorithms.hpp"

#include <set>
#include <string>
#include <vector>

#include "tests/support/compositing_cases.hpp"
#include "tests/support/reference_prover.hpp"
#include <gtest/gtest.h>

namespace sextant::compositing {
namespace {

using test::Case;
using test::Random;

constexpr int positions[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 24, 30, 36};

std::vector<Elements> sizes(int p) {
    return {0, 1, 3, 37, 4 * p + 1};
}

std::string error_of(const Case& c) {
    return prove(c.schedule, c.claim).error;
}

/// Calls `visit(algorithm, tuning, p, elements)` for every algorithm, tuning, number of positions
/// and size.
template <class Visit>
void for_each_combination(Visit visit) {
    for (const Algorithm& algorithm : catalogue()) {
        for (int p : positions) {
            for (const Tuning& tuning : algorithm.tunings(p)) {
                for (Elements elements : sizes(p))
                    visit(algorithm, tuning, p, elements);
            }
        }
    }
}

TEST(CompositingProof, covers_one_image_per_rank_with_a_distributed_result) {
    for_each_combination([](const Algorithm& algorithm, const Tuning& tuning, int p, Elements n) {
        const Case c = test::compositing_case(algorithm, one_image_each(p, n), tuning);
        EXPECT_EQ(error_of(c), "") << c.name;
    });
}

TEST(CompositingProof, covers_one_image_per_rank_collected_on_any_rank) {
    for_each_combination([](const Algorithm& algorithm, const Tuning& tuning, int p, Elements n) {
        for (int root : std::set<int>{0, p / 2, p - 1}) {
            const Case c = test::compositing_case(algorithm, one_image_each(p, n, root), tuning);
            EXPECT_EQ(error_of(c), "") << c.name;
        }
    });
}

TEST(CompositingProof, covers_several_layers_in_any_order_with_a_distributed_result) {
    Random random(61);
    for_each_combination([&](const Algorithm& algorithm, const Tuning& tuning, int p, Elements n) {
        const Case c = test::compositing_case(algorithm, test::rough_task(random, p, n), tuning);
        EXPECT_EQ(error_of(c), "") << c.name;
    });
}

TEST(CompositingProof, covers_several_layers_collected_even_on_a_rank_without_an_image) {
    Random random(62);
    for_each_combination([&](const Algorithm& algorithm, const Tuning& tuning, int p, Elements n) {
        Task task = test::rough_task(random, p, n);
        for (int root : {random.pick(task.order), test::outsider(task)}) {
            task.root = root;
            const Case c = test::compositing_case(algorithm, task, tuning);
            EXPECT_EQ(error_of(c), "") << c.name;
        }
    });
}

TEST(CompositingProof, covers_groups_without_any_image) {
    for (const Algorithm& algorithm : catalogue()) {
        Task task;
        task.ranks = 3;
        task.elements = 10;
        for (int root : {Task::distributed, 0, 2}) {
            task.root = root;
            const Case c = test::compositing_case(algorithm, task, {});
            EXPECT_EQ(error_of(c), "") << c.name;
            for (const Program& program : c.schedule)
                EXPECT_TRUE(program.steps.empty());
        }
    }
}

TEST(CompositingProof, accepts_only_the_documented_result_at_the_root) {
    // Two ranks have one layer of one pixel each. The only valid result is the combination of both
    // layers on rank 0.
    const Algorithm& algorithm = find("direct-send");
    const Task task = one_image_each(2, 1, 0);
    const Claim claim = compositing::claim(algorithm, task, {});
    EXPECT_EQ(claim.wanted(0, {{0, 0, 2, 1}}), "");
    EXPECT_EQ(claim.wanted(1, {}), "");
    for (const Symbol& wrong :
         {Symbol{0, 0, 1, 0}, Symbol{0, 1, 2, 0}, Symbol{1, 0, 2, 0}, Symbol{}}) {
        EXPECT_NE(claim.wanted(0, {wrong}), "");
    }
    EXPECT_NE(claim.wanted(0, {}), "");
    EXPECT_NE(claim.wanted(1, {{0, 0, 2, 1}}), "");
    EXPECT_EQ(claim.wanted_together({{{0, 0, 2, 1}}, {}}), "");
    EXPECT_NE(claim.wanted_together({{}, {}}), "");
    EXPECT_NE(claim.wanted_together({{{0, 0, 2, 1}}, {{0, 0, 2, 1}}}), "");
}

/// A case with one image per rank and the programs that `write` makes, by position.
template <class Write>
Case by_position(const Algorithm& like, int p, Elements n, const Tuning& tuning, Write write) {
    const Task task = one_image_each(p, n);
    return {test::describe(like, task, tuning),
            make_schedule(p, [&](int position) { return write(task, position); }),
            claim(like, task, tuning)};
}

TEST(CompositingProof, covers_shift_based_direct_send_and_parallel_pipeline_at_any_window) {
    for (int p : positions) {
        for (int window : {0, 1, 2, 5, 1000}) {
            for (Elements n : {Elements{3}, Elements{4 * p + 1}}) {
                const Tuning tuning{{}, window};
                const auto shifted = by_position(find("shift-based"), p, n, tuning,
                                                 [&](const Task& task, int position) {
                                                     return shift_based(task, window, position);
                                                 });
                EXPECT_EQ(error_of(shifted), "") << shifted.name;
                const auto ascending = by_position(
                    find("direct-send"), p, n, tuning, [&](const Task& task, int position) {
                        return direct_send(task, Partners::ascending, window, position);
                    });
                EXPECT_EQ(error_of(ascending), "") << ascending.name;
                const Case ring =
                    test::compositing_case(find("parallel-pipeline"), one_image_each(p, n), tuning);
                EXPECT_EQ(error_of(ring), "") << ring.name;
            }
        }
    }
}

TEST(CompositingProof, covers_radix_k_at_every_factorisation_up_to_64_ranks) {
    for (int p : {18, 20, 27, 32, 48, 64}) {
        for (const std::vector<int>& radices : factorisations(p)) {
            const Tuning tuning{radices, 0};
            const Case c =
                test::compositing_case(find("radix-k"), one_image_each(p, p + 3), tuning);
            EXPECT_EQ(error_of(c), "") << c.name;
        }
    }
}

TEST(CompositingProof, agrees_with_the_slow_reference_implementation) {
    Random random(63);
    for (const Algorithm& algorithm : catalogue()) {
        for (int p : {1, 2, 3, 4, 6, 8}) {
            for (const Tuning& tuning : algorithm.tunings(p)) {
                Task task = test::rough_task(random, p, 2 * p + 1);
                if (random.chance(50))
                    task.root = random.number(0, task.ranks - 1);
                const Case c = test::compositing_case(algorithm, task, tuning);
                EXPECT_EQ(test::what_is_wrong(c.schedule, c.claim), "") << c.name;
            }
        }
    }
}

} // namespace
} // namespace sextant::compositing
