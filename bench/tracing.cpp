// SPDX-License-Identifier: BSD-3-Clause
// The cost of tracing: per event, and for frames of several sizes.
//
//   bench_tracing [ROUNDS]
//
// Method: the cost per event is the extra time of a traced run of 1,000 steps on one rank, divided
// by 1,000. No step waits, and the time is the CPU time of the thread, which other programs hardly
// affect. Frames are blended by two threads, traced and untraced in each round, in alternating
// order; their times are wall-clock times, since threads wait for each other. Medians of the
// differences and ratios within rounds, with bootstrap intervals, are reported.
#include "sextant/comm/tracing.hpp"

#include "sextant/comm/execute.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/compositing/catalogue.hpp"
#include "sextant/core/image.hpp"
#include "sextant/kernel/fold/catalogue.hpp"
#include "sextant/schedule/builder.hpp"

#include <chrono>
#include <cstdlib>

#include "bench/duel.hpp"

namespace {

using namespace sextant;

constexpr int steps = 1000;

Program copies() {
    ProgramBuilder builder;
    const Region from = builder.input(1);
    const Region all = builder.scratch(steps);
    for (int i = 0; i < steps; ++i)
        builder.copy(block(all.buffer, i, 1), from);
    return builder.finish(all);
}

void time_events(const Communicator& communicator, int rounds) {
    const Operator& over = kernel::find("over", rgba_f32);
    const Image pixel({1, 1}, rgba_f32);
    Execution plain(communicator, copies(), over);
    Execution traced(communicator, copies(), over, {.trace = true});
    for (Execution* each : {&plain, &traced}) {
        each->bind(0, pixel.bytes());
        each->run();
    }
    const bench::Duel duel = bench::duel(
        rounds, [&] { traced.run(); }, [&] { plain.run(); });
    std::vector<double> nanoseconds;
    for (std::size_t i = 0; i < duel.ours.size(); ++i)
        nanoseconds.push_back((duel.ours[i] - duel.theirs[i]) * 1e6 / steps);
    fmt::print("{} ns per event, timed by the {}\n", bench::with_interval(nanoseconds),
               TickClock::reads_counter() ? "processor's counter" : "steady clock");
}

double seconds_of(const Communicator& communicator, Execution& execution) {
    communicator.barrier();
    const auto begin = std::chrono::steady_clock::now();
    execution.run();
    communicator.barrier();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void time_frames(const Communicator& communicator, Elements side, int rounds) {
    const Operator& over = kernel::find("over", rgba_f32);
    const compositing::Task task = compositing::one_image_each(communicator.size(), side * side,
                                                               compositing::Task::distributed);
    const auto program = [&] {
        return compositing::program(compositing::find("direct-send"), task, {},
                                    communicator.rank());
    };
    const Image image({side, side}, rgba_f32);
    Execution plain(communicator, program(), over);
    Execution traced(communicator, program(), over, {.trace = true});
    for (Execution* each : {&plain, &traced})
        each->bind(0, image.bytes());
    std::vector<double> ratios, times;
    for (int round = -2; round < rounds; ++round) {
        const bool first = round % 2 == 0;
        const double one = seconds_of(communicator, first ? traced : plain);
        const double other = seconds_of(communicator, first ? plain : traced);
        if (round < 0)
            continue; // warm-up: the first touch of memory
        ratios.push_back(first ? one / other : other / one);
        times.push_back(first ? other : one);
    }
    if (communicator.rank() == 0)
        fmt::print("{0}x{0}: ratio traced/untraced {1}; untraced {2} us\n", side,
                   bench::with_interval(ratios), bench::with_interval(times, 1e-6));
}

} // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 1001;
    run_threads(1, [&](const Communicator& communicator) { time_events(communicator, rounds); });
    run_threads(2, [&](const Communicator& communicator) {
        for (const Elements side : {64, 256, 1024})
            time_frames(communicator, side, rounds / 5 + 1);
    });
}
