// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/execute.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/comm/tracing.hpp"
#include "sextant/compositing/catalogue.hpp"
#include "sextant/core/image.hpp"
#include "sextant/kernel/fold/catalogue.hpp"

#include <chrono>
#include <cmath>
#include <thread>

#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(TickClock, agrees_with_the_steady_clock) {
    const auto since_epoch = [](std::chrono::steady_clock::time_point time) {
        return std::chrono::duration<double>(time.time_since_epoch()).count();
    };
    TickClock clock;
    clock.restart(); // the first call takes time for calibration
    const auto begin = std::chrono::steady_clock::now();
    clock.restart();
    const auto restarted = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const double seconds = static_cast<double>(clock.ticks()) * clock.tick();
    const double passed =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    EXPECT_GE(seconds, .0199);
    EXPECT_LE(seconds, passed * 1.001 + 1e-4);
    EXPECT_GE(clock.origin(), since_epoch(begin));
    EXPECT_LE(clock.origin(), since_epoch(restarted));
}

TEST(TickClock, gives_its_tick_length_even_after_a_short_run) {
    TickClock clock;
    clock.restart();
    const Seconds short_run = clock.tick();
    double ratio = 0;
    // The thread may be interrupted between the readings of the two clocks.
    for (int attempt = 0; attempt < 3 && std::abs(ratio - 1) > .01; ++attempt) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        ratio = clock.tick() / short_run;
    }
    EXPECT_NEAR(ratio, 1, .01);
}

TEST(Trace, contains_times_within_the_run_on_every_rank) {
    run_threads(3, [](const Communicator& communicator) {
        const compositing::Task task =
            compositing::one_image_each(3, 4096, compositing::Task::distributed);
        const Image image({64, 64}, rgba_f32);
        Execution execution(
            communicator,
            compositing::program(compositing::find("direct-send"), task, {}, communicator.rank()),
            kernel::find("over", rgba_f32), {.trace = true});
        execution.bind(0, image.bytes());
        for (int run = 0; run < 3; ++run) {
            const auto begin = std::chrono::steady_clock::now();
            execution.run();
            const double passed =
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            const Trace& trace = execution.trace();
            EXPECT_GT(trace.duration, 0);
            EXPECT_LE(trace.duration, passed * 1.01 + 1e-6);
            for (const Event& event : trace.events) {
                EXPECT_GE(event.begin, 0);
                EXPECT_GE(event.end, event.begin);
                EXPECT_LE(event.end, trace.duration);
            }
        }
    });
}

} // namespace
} // namespace sextant
