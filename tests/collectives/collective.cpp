// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collectives/collective.hpp"

#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"

#include <functional>
#include <string>

#include "tests/support/agreed_failure.hpp"
#include "tests/support/collective_operations.hpp"
#include "tests/support/counting_new.hpp"
#include "tests/support/schedules.hpp"

namespace sextant::test {
namespace {

using ::testing::HasSubstr;
using enum CollectiveKind;

TEST(Collective, every_algorithm_follows_the_mpi_standard) {
    for (int ranks = 1; ranks <= 9; ++ranks)
        run_threads(ranks, [](const Communicator& communicator) {
            every_collective_follows_the_mpi_standard(communicator);
        });
}

/// The proofs also show that no message delivery deadlocks.
TEST(Collective, every_reduction_and_scan_is_proved) {
    for (const CollectiveKind kind : {reduce, all_reduce, reduce_scatter, scan, exclusive_scan}) {
        for (const std::string_view algorithm : algorithms_of(kind, true)) {
            const auto in_order = algorithms_of(kind);
            const bool commutes =
                std::find(in_order.begin(), in_order.end(), algorithm) == in_order.end();
            for (int ranks = 1; ranks <= 9; ++ranks) {
                if (!takes(algorithm, ranks))
                    continue;
                const int root = kind == reduce ? ranks / 2 : 0;
                Schedule schedule(static_cast<std::size_t>(ranks));
                run_threads(ranks, [&](Communicator communicator) {
                    const Collective collective(
                        communicator, {kind, {11}, 1, commutes ? count_sum() : matrix_product()},
                        {.algorithm = std::string(algorithm), .root = root});
                    schedule[static_cast<std::size_t>(communicator.rank())] = collective.program();
                });
                Claim claim{own_operand,
                            exactly([&](int rank) {
                                const int last = kind == scan             ? rank + 1
                                                 : kind == exclusive_scan ? rank
                                                                          : ranks;
                                const bool none = last == 0 || (kind == reduce && rank != root);
                                return combined(kind == reduce_scatter ? 11 * rank : 0,
                                                none ? 0 : 11, 0, last);
                            }),
                            {}};
                EXPECT_EQ(prove(schedule, claim).holds(), !commutes || ranks < 2) << algorithm;
                claim.order = Order::any;
                EXPECT_EQ(prove(schedule, claim).error, "")
                    << name(kind) << " by " << algorithm << " on " << ranks;
            }
        }
    }
}

TEST(Collective, operands_may_be_combined_in_arrival_order) {
    run_threads(5, [](Communicator communicator) {
        const CollectiveCase what{all_reduce, 5, 0, [](int, int) { return 1000; }};
        Collective collective(communicator, {all_reduce, {1000}, 1, matrix_product()},
                              {.association = Association::by_arrival});
        expect_runs(collective, what.operands(communicator.rank()), what.combined(0), "arrival");
    });
}

/// Text of the exception that all ranks throw when they create an operation.
std::string complaint(int ranks, const std::function<void(const Communicator&)>& make) {
    std::string text;
    run_threads(ranks, [&](Communicator communicator) {
        const std::string thrown = agreed_failure([&] { make(communicator); });
        for (const std::string& each : all_gather_texts(communicator, thrown))
            EXPECT_EQ(each, thrown);
        if (communicator.rank() == 0)
            text = thrown;
        const CollectiveCase what{gather, ranks, 0, [](int, int) { return 2; }};
        expect_collective(communicator, what, "flat-gather"); // the communicator is still usable
    });
    return text;
}

TEST(Collective, arguments_that_differ_between_ranks_are_reported_with_their_values) {
    const auto with = [](const std::function<void(int, CollectiveTask&, CollectiveOptions&)>& odd) {
        return complaint(4, [&](const Communicator& communicator) {
            CollectiveTask task{broadcast, {7}, 4};
            CollectiveOptions options;
            odd(communicator.rank(), task, options);
            Collective(communicator, task, options);
        });
    };
    EXPECT_EQ(with([](int rank, auto&, auto& options) { options.root = rank == 2 ? 3 : 1; }),
              "root: rank 0 has 1, rank 2 has 3");
    EXPECT_EQ(with([](int rank, auto& task, auto&) { task.counts = {rank == 3 ? 8 : 7}; }),
              "counts differ: rank 0 passes 7, rank 3 passes 8");
    EXPECT_EQ(with([](int rank, auto& task, auto&) { task.element_size = rank == 1 ? 8 : 4; }),
              "element_size: rank 0 has 4, rank 1 has 8");
    EXPECT_EQ(with([](int rank, auto& task, auto&) { task.kind = rank == 1 ? scatter : gather; }),
              "kind: rank 0 has gather, rank 1 has scatter");
    EXPECT_EQ(with([](int rank, auto&, auto& options) {
                  options.algorithm = rank == 0 ? "auto" : "1-lev-br-broadcast";
              }),
              "algorithm: rank 0 has auto, rank 1 has 1-lev-br-broadcast");
}

TEST(Collective, invalid_arguments_are_refused_on_every_rank) {
    const auto with = [](const CollectiveTask& task, const CollectiveOptions& options = {}) {
        return complaint(
            3, [&](const Communicator& communicator) { Collective(communicator, task, options); });
    };
    EXPECT_EQ(with({gather, {-1}}), "rank 0 passes count -1: expected 0 to 1099511627776");
    EXPECT_EQ(with({gather, {}}), "rank 0 passes 0 counts: expected 1");
    EXPECT_EQ(with({all_to_all, {1, 2}}), "rank 0 passes 2 counts: expected 1 or 3");
    EXPECT_EQ(with({gather, {1}}, {.root = 3}), "root 3: expected 0 to 2");
    EXPECT_EQ(with({gather, {1}, 0}),
              "element_size 0: expected a whole number from 1 to 1099511627776");
    EXPECT_EQ(with({reduce, {1}}), "reduce combines elements: expected an operator");
    EXPECT_EQ(with({all_reduce, {1}, 1, matrix_product()}, {.algorithm = "ring-all-reduce"}),
              "ring-all-reduce requires an operator that is declared commutative");
    EXPECT_THAT(with({gather, {1}}, {.algorithm = "ring"}),
                HasSubstr("unknown gather algorithm 'ring'"));
    EXPECT_THAT(with({gather, {1}}, {.algorithm = "mpi"}),
                HasSubstr("mpi cannot run this operation: expected MPI processes"));
    EXPECT_THAT(
        with({all_reduce, {1}, 1, matrix_product()}, {.algorithm = "mpi", .reproducible = true}),
        HasSubstr("mpi does not combine elements in the order of a serial loop"));
    EXPECT_EQ(with({reduce, {1}, 1, matrix_product()}, {.algorithm = "binary-swap"}),
              "binary-swap does not support 3 ranks, expected a power of two");
    EXPECT_EQ(
        with({scan, {1}, 1, matrix_product()}, {.algorithm = "sklansky", .reproducible = true}),
        "sklansky does not combine elements in the order of a serial loop, as the option "
        "reproducible requires; use serial");
}

/// Floats whose sum depends on the order of association.
std::vector<float> floats(int rank) {
    std::vector<float> values;
    for (int i = 0; i < 500; ++i)
        values.push_back(1 / static_cast<float>(1 + (i * 37 + rank * 101) % 89));
    return values;
}

TEST(Collective, reproducible_results_have_the_same_bits_as_a_serial_loop) {
    std::vector<float> serial = floats(0);
    for (int rank = 1; rank < 7; ++rank) {
        for (std::size_t i = 0; i < serial.size(); ++i)
            serial[i] += floats(rank)[i];
    }
    for (const CollectiveKind kind : {all_reduce, scan}) {
        run_threads(7, [&](Communicator communicator) {
            Collective sum(communicator,
                           {kind, {500}, 1, element_operator<float>("sum", std::plus())},
                           {.reproducible = true});
            const auto result = sum.run<float>(floats(communicator.rank()));
            EXPECT_TRUE(communicator.rank() < 6 ||
                        std::equal(result.begin(), result.end(), serial.begin()));
        });
    }
}

TEST(Collective, the_plan_contains_the_choice_and_all_predictions) {
    run_threads(4, [](Communicator communicator) {
        Collective reduction(communicator, {reduce, {100'000}, 1, matrix_product()},
                             {.probing = planner::Probing::off, .operator_seconds = 1e-8});
        const CollectivePlan& plan = reduction.plan();
        const auto reasons = all_gather_texts(communicator, plan.text() + ": " + plan.reason);
        EXPECT_EQ(reasons[0], reasons[3]);
        EXPECT_THAT(plan.reason, HasSubstr("fastest of"));
        if (communicator.rank() > 0) {
            EXPECT_TRUE(plan.alternatives.empty());
            return;
        }
        ASSERT_GE(plan.alternatives.size(), 8u);
        EXPECT_EQ(plan.alternatives.front().configuration.text(), plan.text());
        EXPECT_GT(plan.alternatives.front().expected->seconds, 0);
        EXPECT_THAT(plan.reason, HasSubstr(plan.machine));
        // Combining whole operands takes 1 ms, so the tree, which does not split them, is slowest.
        EXPECT_NE(plan.configuration.algorithm, "binary-tree");
    });
}

TEST(Collective, nothing_is_predicted_if_there_is_no_choice) {
    run_threads(1, [](Communicator communicator) {
        const Collective alone(communicator, {all_gather, {3}});
        EXPECT_EQ(alone.plan().reason, "nothing to choose: there is only one rank");
    });
    run_threads(2, [](Communicator communicator) {
        const Collective named(communicator, {all_gather, {3}}, {.algorithm = "ring-all-gather"});
        EXPECT_EQ(named.plan().reason, "requested");
        EXPECT_EQ(named.plan().configuration.algorithm, "ring-all-gather");
    });
}

TEST(Collective, a_wrong_buffer_fails_one_run_and_the_next_succeeds) {
    run_threads(3, [](Communicator communicator) {
        const int rank = communicator.rank();
        Collective gathering(communicator, {all_gather, {2}, sizeof(int)});
        const std::vector<int> own{rank, rank + 10}, three(3);
        std::string thrown = "nothing";
        try {
            gathering.run<int>(rank == 1 ? three : own);
        } catch (const InvalidTask& error) {
            thrown = error.what();
        } catch (const PeerFailed&) {
            thrown = "peer";
        }
        EXPECT_EQ(thrown, rank == 1 ? "rank 1: a send buffer of 12 bytes, expected 8 (2 elements "
                                      "of 4)"
                                    : "peer");
        const auto all = gathering.run<int>(own);
        EXPECT_EQ(std::vector<int>(all.begin(), all.end()),
                  (std::vector<int>{0, 10, 1, 11, 2, 12}));
    });
}

TEST(Collective, nothing_is_allocated_after_the_first_run) {
    for (const CollectiveKind kind : collective_kinds) {
        for (const std::string_view algorithm : algorithms_of(kind)) {
            long before = 0, after = 0;
            run_threads(4, [&](Communicator communicator) {
                const CollectiveCase what{kind, 4, 1,
                                          [](int from, int to) { return 2000 + from * to; }};
                CollectiveTask task{kind, what.counts(communicator.rank())};
                task.op = matrix_product();
                task.element_size = sizeof(Matrix);
                Collective collective(communicator, task,
                                      {.algorithm = std::string(algorithm), .root = 1});
                const std::vector<Matrix> send(static_cast<std::size_t>(collective.send_count()));
                std::vector<Matrix> here(static_cast<std::size_t>(collective.receive_count())),
                    there = here;
                collective.run<Matrix>(send, here);
                communicator.barrier();
                before = allocations.load();
                communicator.barrier();
                for (int i = 0; i < 3; ++i)
                    collective.run<Matrix>(send, i == 1 ? there : here);
                communicator.barrier();
                after = allocations.load();
                communicator.barrier();
            });
            EXPECT_EQ(after - before, 0) << name(kind) << " by " << algorithm;
        }
    }
}

} // namespace
} // namespace sextant::test
