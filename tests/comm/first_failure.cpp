// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/threads.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace sextant::test {
namespace {

TEST(FirstFailure, is_nothing_where_all_is_well) {
    for (const int ranks : {1, 3}) {
        run_threads(ranks, [](const Communicator& communicator) {
            EXPECT_EQ(first_failure(communicator, [] {}), "");
        });
    }
}

TEST(FirstFailure, is_that_of_the_lowest_rank_that_failed_on_every_rank) {
    run_threads(5, [](const Communicator& communicator) {
        const int rank = communicator.rank();
        const auto fails = [&] {
            if (rank == 2 || rank == 4)
                throw std::runtime_error("no memory for rank " + std::to_string(rank));
        };
        EXPECT_EQ(first_failure(communicator, fails), "rank 2: no memory for rank 2");
    });
}

} // namespace
} // namespace sextant::test
