// SPDX-License-Identifier: BSD-3-Clause
// If a rank fails, all ranks must end soon, without a hang.
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/scope.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/comm/tracing.hpp"
#include "sextant/core/error.hpp"

#include <atomic>

#include "tests/support/blending.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using compositing::Task;

TEST(Failure, an_exception_outside_a_run_cancels_the_ranks_that_wait) {
    const Task task = compositing::one_image_each(5, 1 << 16, 0);
    for (int failing = 0; failing < 5; ++failing) {
        try {
            run_threads(5, [&](Communicator communicator) {
                if (communicator.rank() == failing)
                    throw InvalidFile("x.exr", "is broken");
                composite(communicator, compositing::find("radix-k"), task, {{5}, 0},
                          Association::in_order);
                communicator.barrier();
            });
            FAIL() << "nothing thrown";
        } catch (const InvalidFile& error) {
            EXPECT_STREQ(error.what(), "x.exr: is broken");
        }
    }
}

TEST(Failure, an_exception_before_a_barrier_also_ends_ranks_in_split_groups) {
    EXPECT_THROW(run_threads(4,
                             [](Communicator communicator) {
                                 const Communicator pair =
                                     communicator.split(communicator.rank() / 2, 0);
                                 if (communicator.rank() == 3)
                                     throw InvalidTask("no");
                                 pair.barrier();
                                 communicator.barrier();
                             }),
                 InvalidTask);
}

TEST(Failure, calls_that_the_failed_rank_has_completed_complete_though_it_left_out_exchanges) {
    const Task task = compositing::one_image_each(3, 1000, 0);
    const auto composited = [&](const Communicator& communicator) {
        composite(communicator, compositing::find("binary-tree"), task, {}, Association::in_order);
    };
    std::atomic<bool> has_failed = false;
    run_threads(3, [&](Communicator communicator) {
        const Communicator scope = scope_of(communicator, "Object");
        const int rank = communicator.rank();
        // Only ranks 0 and 2, which have other clocks, exchange messages.
        const HostClock clock{rank == 2 ? 2u : 0u, [] { return HostClock::steady().now(); }};
        EXPECT_EQ(clock_offsets(scope, clock).size(), 2u);
        if (rank == 2)
            has_failed.wait(false);
        EXPECT_NO_THROW(composited(scope)) << rank;
        if (rank == 1) {
            fail(scope, "has no more images");
            has_failed = true;
            has_failed.notify_all();
        }
        EXPECT_THROW(scope.barrier(), PeerFailed) << rank;
        communicator.barrier();
    });
}

TEST(Failure, agreement_gives_every_rank_the_same_text_of_any_length) {
    const std::string is_cut_off = "is cut off" + std::string(3000, '.') + "!";
    run_threads(4, [&](Communicator communicator) {
        std::string text;
        try {
            agree(communicator, [&] {
                if (communicator.rank() == 2)
                    throw InvalidFile("part_2.exr", is_cut_off);
            });
        } catch (const AgreedFailure& error) {
            text = error.what();
            EXPECT_FALSE(error.invalid_task());
        }
        EXPECT_EQ(text, "part_2.exr: " + is_cut_off) << "ranks of one process see the same files";
        agree(communicator, [] {}); // ranks are still synchronised
        try {
            agree(communicator, [] { throw InvalidTask("all alike"); });
        } catch (const AgreedFailure& error) {
            EXPECT_STREQ(error.what(), "all alike");
            EXPECT_TRUE(error.invalid_task());
        }
    });
}

TEST(Failure, a_buffer_of_the_wrong_size_is_refused_before_anything_is_sent) {
    run_threads(1, [](Communicator communicator) {
        const Task task = compositing::one_image_each(1, 10);
        Execution execution(communicator,
                            compositing::program(compositing::find("direct-send"), task, {}, 0),
                            kernel::find("over"));
        const std::vector<RgbaF32> images(9);
        EXPECT_THROW(execution.bind(0, std::as_bytes(std::span(images))), InvalidTask);
    });
}

/// The exception of run_threads() if ranks 0, 1 and 3 call `meeting`, but rank 2 returns.
std::string thrown_without_rank_2(const std::function<void(const Communicator&)>& meeting) {
    try {
        run_threads(4, [&](const Communicator& communicator) {
            if (communicator.rank() != 2)
                meeting(communicator);
        });
    } catch (const PeerFailed& error) {
        EXPECT_EQ(error.rank(), 2);
        return error.what();
    }
    return "nothing";
}

TEST(Failure, a_rank_that_returns_before_a_collective_call_is_reported) {
    const char* const said =
        "rank 2 has returned, but other ranks wait for it in a collective call";
    EXPECT_EQ(thrown_without_rank_2([](const Communicator& c) { c.barrier(); }), said);
    EXPECT_EQ(thrown_without_rank_2([](const Communicator& c) { c.all_gather(c.rank()); }), said);
    EXPECT_EQ(thrown_without_rank_2([](const Communicator& c) { agree(c, [] {}); }), said);
    EXPECT_EQ(thrown_without_rank_2([](const Communicator& c) { c.split(0, 0); }), said);
}

TEST(Failure, a_rank_that_returns_before_a_message_exchange_is_reported) {
    const Task task = compositing::one_image_each(4, 1000, 0);
    for (const char* name : {"direct-send", "radix-k"}) {
        const auto& algorithm = compositing::find(name);
        const auto tuning = algorithm.tunings(4).front();
        const std::string said = thrown_without_rank_2([&](const Communicator& communicator) {
            composite(communicator, algorithm, task, tuning, Association::in_order);
        });
        EXPECT_TRUE(said.ends_with(" waits for rank 2, which has returned") ||
                    said == "rank 2 failed")
            << said;
    }
}

TEST(Failure, a_rank_that_returned_is_reported_by_its_number_in_the_group) {
    std::atomic<int> named = 0;
    try {
        run_threads(4, [&](const Communicator& communicator) {
            const Communicator odd_or_even = communicator.split(communicator.rank() % 2, 0);
            if (communicator.rank() == 2)
                return; // has rank 1 in the group of even ranks
            try {
                odd_or_even.barrier();
            } catch (const PeerFailed& error) {
                named += error.rank();
                throw;
            }
        });
    } catch (const PeerFailed&) {
    }
    EXPECT_EQ(named, 1);
}

TEST(Failure, more_threads_than_the_limit_are_refused) {
    try {
        run_threads(1'000'000, [](const Communicator&) { FAIL() << "a thread was started"; });
        FAIL() << "a million threads";
    } catch (const InvalidTask& error) {
        EXPECT_STREQ(error.what(), "cannot run 1000000 ranks as threads: expected 1 to 4096");
    }
}

TEST(Failure, ranks_may_return_while_others_continue) {
    for (int repeat = 0; repeat < 50; ++repeat) {
        run_threads(4, [](const Communicator& communicator) {
            const Communicator half = communicator.split(communicator.rank() % 2, 0);
            communicator.barrier();
            if (communicator.rank() % 2 == 0)
                return;
            for (int i = 0; i < 5; ++i)
                EXPECT_EQ(half.all_gather(1).size(), 2u);
        });
    }
}

TEST(Failure, a_thrown_object_that_is_not_an_exception_reaches_every_rank) {
    run_threads(3, [](const Communicator& communicator) {
        const auto part = [&] {
            if (communicator.rank() == 1)
                throw 7;
        };
        try {
            agree(communicator, part);
            ADD_FAILURE() << "nothing was thrown";
        } catch (const AgreedFailure& error) {
            EXPECT_STREQ(error.what(), "threw an exception that is not a std::exception");
        }
        communicator.barrier(); // the communicator is still usable
        EXPECT_EQ(first_failure(communicator, part),
                  "rank 1: threw an exception that is not a std::exception");
    });
}

} // namespace
} // namespace sextant::test
