// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"

#include "tests/support/sparse_runs.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

TEST(SparseThreads, EveryAlgorithmGivesTheSameBitsAsDenseMessages) {
    for (const int ranks : {1, 2, 3, 4, 6})
        run_threads(ranks, every_algorithm_gives_the_same_bits);
}

TEST(SparseThreads, EveryOperatorGivesTheSameBitsAsDenseMessages) {
    for (const int ranks : {2, 5})
        run_threads(ranks, every_operator_gives_the_same_bits);
}

TEST(SparseThreads, FoldingInArrivalOrderGivesTheSameNearestSamples) {
    for (const int ranks : {3, 6})
        run_threads(ranks, folding_in_arrival_order_gives_the_same_nearest_samples);
}

TEST(SparseThreads, AnyLayersOrdersAndEmptyRanksGiveTheSameBitsAsDenseMessages) {
    run_threads(7, layers_and_empty_ranks_give_the_same_bits);
}

TEST(SparseThreads, EmptyPixelsAreNotSent) {
    for (const int ranks : {2, 3, 5})
        run_threads(ranks, empty_pixels_are_not_sent);
}

TEST(SparseThreads, AnOperatorWithoutAnEmptyElementIsRefused) {
    run_threads(1, [](const Communicator& communicator) {
        Operator op = kernel::find("over");
        op.fill_identity = nullptr;
        EXPECT_THROW(Execution(communicator, Program{}, op, {.sparse = true}), std::logic_error);
    });
}

TEST(SparseThreads, AfterAnOperatorExceptionTheNextRunSucceeds) {
    run_threads(4, [](const Communicator& communicator) {
        const auto task = compositing::one_image_each(4, 4003, 0);
        const auto& algorithm = compositing::find("radix-k");
        const int rank = communicator.rank();
        Operator op = kernel::find("over");
        if (rank == 3)
            op.fold = [](auto, auto, auto) { throw std::runtime_error("broke"); };
        const auto images = drawn_images(drawings[4], op, task, rank);
        Execution broken(communicator, compositing::program(algorithm, task, {{2, 2}}, rank), op,
                         {.sparse = true});
        broken.bind(0, images);
        std::string said = "nothing";
        try {
            broken.run();
        } catch (const PeerFailed&) {
            said = "peer";
        } catch (const std::runtime_error& own) {
            said = own.what();
        }
        if (rank == 3) {
            EXPECT_EQ(said, "broke");
        } else if (rank == 0) { // the root; other ranks may already have finished
            EXPECT_EQ(said, "peer");
        }
        communicator.barrier();
        expect_same_bits(communicator, kernel::find("over"), algorithm, task, {{2, 2}},
                         drawings[4]);
    });
}

} // namespace
} // namespace sextant::test
