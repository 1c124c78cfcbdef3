// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/core/run_control.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace sextant::test {
namespace {

TEST(FirstFailure, is_empty_without_a_failure) {
    for (const int ranks : {1, 3}) {
        run_threads(ranks, [](const Communicator& communicator) {
            EXPECT_EQ(first_failure(communicator, [] {}), "");
        });
    }
}

TEST(FirstFailure, is_the_failure_of_the_lowest_failed_rank_on_every_rank) {
    run_threads(5, [](const Communicator& communicator) {
        const int rank = communicator.rank();
        const auto fails = [&] {
            if (rank == 2 || rank == 4)
                throw std::runtime_error("no memory for rank " + std::to_string(rank));
        };
        EXPECT_EQ(first_failure(communicator, fails), "rank 2: no memory for rank 2");
    });
}

TEST(Agreement, cancels_every_rank_after_a_failure_and_stays_usable) {
    run_threads(4, [](const Communicator& communicator) {
        const RunControl control{{}, [&] { return communicator.rank() == 3; }};
        const auto step = [&] { agree(communicator, [&] { control.check(); }); };
        EXPECT_THROW(agree(communicator, step), Cancelled);
        EXPECT_NO_THROW(agree(communicator, [] {}));
    });
}

TEST(Agreement, reports_a_failure_in_preference_to_a_cancellation) {
    run_threads(3, [](const Communicator& communicator) {
        try {
            agree(communicator, [&] {
                if (communicator.rank() == 0)
                    throw Cancelled();
                if (communicator.rank() == 2)
                    throw InvalidTask("too few rows");
            });
            ADD_FAILURE();
        } catch (const AgreedFailure& error) {
            EXPECT_TRUE(error.invalid_task());
        }
    });
}

} // namespace
} // namespace sextant::test
