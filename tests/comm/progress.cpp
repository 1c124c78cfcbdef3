// SPDX-License-Identifier: BSD-3-Clause
// An operator may take seconds, but messages must not wait until all ready steps are done.
#include "sextant/comm/execute.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/schedule/builder.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using std::chrono::milliseconds;

constexpr int applications = 15;

/// Folds for a long time, and meanwhile sends back the message that it receives.
Program busy() {
    ProgramBuilder builder;
    const Region own = builder.input(1), passing = builder.scratch(1);
    builder.receive(1, passing);
    builder.send(1, passing);
    Region sum = own;
    for (int i = 0; i < applications; ++i) {
        const Region next = builder.scratch(1);
        builder.fold(next, {sum, own});
        sum = next;
    }
    return builder.finish(sum);
}

Program waiting() {
    ProgramBuilder builder;
    const Region own = builder.input(1), back = builder.scratch(1), sum = builder.scratch(1);
    builder.send(0, own);
    builder.receive(0, back);
    builder.fold(sum, {back, own});
    return builder.finish(sum);
}

Operator calling(std::function<void()> work) {
    Operator op;
    op.element = {"byte", 1};
    op.fold = [work = std::move(work)](auto, std::byte* to, Elements) {
        work();
        *to = std::byte{1};
    };
    return op;
}

TEST(Threads, messages_make_progress_between_two_steps_of_work) {
    std::atomic<bool> came_back = false, seen = false;
    const auto work = [&, done = 0]() mutable {
        // A blocking executor would finish all steps before it sends the message back. Each step
        // takes twice as long as the previous one until the message has come back, so that the last
        // steps outlast the delays of a busy machine.
        ++done;
        for (int i = 0; i < (1 << done) && !came_back; ++i)
            std::this_thread::sleep_for(milliseconds(1));
        if (done == applications)
            seen = came_back.load();
    };
    run_threads(2, [&](Communicator communicator) {
        const bool first = communicator.rank() == 0;
        const std::vector<std::byte> value(1);
        Execution execution(communicator, first ? busy() : waiting(),
                            first ? calling(work) : calling([&] { came_back = true; }));
        execution.bind(0, value);
        execution.run();
    });
    EXPECT_TRUE(seen);
}

} // namespace
} // namespace sextant::test
