// SPDX-License-Identifier: BSD-3-Clause
// Long loops end when their operation is cancelled, but only where all ranks learn of it.
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/thread_team.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/core/run_control.hpp"

#include <atomic>

#include <gtest/gtest.h>

namespace sextant {
namespace {

/// Loops for a long time unless it is cancelled. Returns the number of steps.
int loop() {
    constexpr int many = 1000;
    int steps = 0;
    for (; steps < many; ++steps)
        check_cancelled(much_work);
    return steps;
}

TEST(Cancellation, asks_after_much_work_only) {
    int asked = 0;
    const RunControl control{.cancelled = [&] { return ++asked == 3; }};
    const CancellationScope scope(control, 1);
    for (int i = 0; i < 7; ++i)
        check_cancelled(much_work / 4);
    EXPECT_EQ(asked, 1);
    check_cancelled(much_work / 4);
    EXPECT_EQ(asked, 2);
    EXPECT_THROW(check_cancelled(much_work), Cancelled);
}

TEST(Cancellation, applies_within_its_scope) {
    const RunControl control{.cancelled = [] { return true; }};
    EXPECT_NO_THROW(loop());
    {
        const CancellationScope scope(control, 1);
        EXPECT_THROW(loop(), Cancelled);
        {
            const CancellationScope inner(Cancellation{});
            EXPECT_NO_THROW(loop());
        }
        EXPECT_THROW(loop(), Cancelled);
    }
    EXPECT_NO_THROW(loop());
}

TEST(Cancellation, of_several_ranks_throws_on_all_of_them_and_only_in_agreed_parts) {
    constexpr int ranks = 3;
    for (int cancelled = 0; cancelled < ranks; ++cancelled) {
        std::atomic<int> ended = 0, whole = 0;
        run_threads(ranks, [&](const Communicator& communicator) {
            const RunControl control{.cancelled = [&] { return communicator.rank() == cancelled; }};
            const CancellationScope scope(control, communicator.size());
            EXPECT_NO_THROW(loop()); // other ranks would wait for this one
            try {
                agree(communicator, [&] { whole += loop() > 0 ? 1 : 0; });
            } catch (const Cancelled&) {
                ++ended;
            }
            communicator.all_gather(0); // still works
        });
        EXPECT_EQ(ended, ranks);
        EXPECT_EQ(whole, ranks - 1);
    }
}

TEST(Cancellation, reaches_the_threads_of_a_team) {
    for (const int threads : {1, 2, 4}) {
        std::atomic<bool> asking = false, together = false;
        const RunControl control{.cancelled = [&] {
            together = together || asking.exchange(true);
            asking = false;
            return true;
        }};
        const CancellationScope scope(control, 1);
        Team team(threads);
        std::atomic<int> whole = 0;
        EXPECT_THROW(team.run(100,
                              [&](int, int) {
                                  loop();
                                  ++whole;
                              }),
                     Cancelled);
        EXPECT_EQ(whole, 0);
        EXPECT_FALSE(together);
        const CancellationScope none(Cancellation{});
        EXPECT_NO_THROW(team.run(100, [&](int, int) { loop(); }));
    }
}

} // namespace
} // namespace sextant
