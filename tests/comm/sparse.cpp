// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"

#include "tests/support/short_runs.hpp"
#include "tests/support/sparse_runs.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

const bool sparse_added =
    add_cases("SparseThreads", sparse_cases(), on_threads) &&
    add_cases("ShortElements", {GROUP_CASE(short_elements_are_sent_without_padding, {2, 3, 7})},
              on_threads);

TEST(SparseThreads, an_operator_without_an_empty_element_is_refused) {
    run_threads(1, [](const Communicator& communicator) {
        Operator op = kernel::find("over");
        op.fill_identity = nullptr;
        EXPECT_THROW(Execution(communicator, Program{}, op, {.sparse = true}), std::logic_error);
    });
}

TEST(SparseThreads, after_an_operator_exception_the_next_run_succeeds) {
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
