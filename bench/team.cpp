// SPDX-License-Identifier: BSD-3-Clause
// The gain of two threads within one registration, compared with their gain in plain computation.
//
//   bench_team [THREADS [ROUNDS]]
//
// Method: the possible gain depends on the load of the machine by other programs, so it is compared
// with the gain of a control: a loop of floating-point operations without memory access, divided
// into one piece per thread, on the same team. Each round makes four measurements of about equal
// length in succession: the control on one thread and on the team, the registration on one thread
// and on the team; every second round runs them in reverse order. Times are wall-clock times; a
// gain is the time on one thread over the time on the team. The ratio of both gains is taken within
// the round, so that drift of the machine affects both; medians with bootstrap intervals are
// reported. Both results of a registration are compared bitwise.
#include "sextant/comm/thread_team.hpp"
#include "sextant/registration/pair/nonrigid.hpp"
#include "sextant/registration/pair/rigid.hpp"
#include "sextant/registration/synthetic.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/duel.hpp"
#include <fmt/format.h>

namespace {

using namespace sextant;
using bench::with_interval;

template <class Body>
double wall(const Body& body) {
    const auto begin = std::chrono::steady_clock::now();
    body();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Iterates a recurrence that the compiler cannot evaluate.
double computed(int steps) {
    double value = .3;
    for (int step = 0; step < steps; ++step)
        value = 3.7 * value * (1 - value);
    return value;
}

struct Frames {
    kernel::FloatPlane reference, moved;
};

Frames frames_of(Elements side) {
    registration::SeriesPlan plan;
    plan.shape = {side, side};
    plan.frames = 2;
    plan.drift = inverse(registration::RigidMotion{.3 * std::numbers::pi / 180, 2.3, -1.7});
    registration::SpecimenPlan specimen;
    specimen.field = registration::field_for(plan);
    const registration::SyntheticSeries series(
        plan, registration::find_specimen("carbon").make(specimen));
    return {series.counted(0), series.counted(1)};
}

/// A registration of a pair of frames; returns one number of the result, to compare runs.
using Work = std::function<double()>;

Work rigid(const Frames& frames, Team* team) {
    struct Workspace {
        registration::Pyramid reference, moved;
        registration::RigidRegistration registration;

        Workspace(ImageShape shape, Team* shared)
            : reference(shape, 0, registration::usual_prefilter, shared),
              moved(shape, 0, registration::usual_prefilter, shared),
              registration(shape, 0, {}, shared) {}
    };
    const auto space = std::make_shared<Workspace>(frames.reference.shape(), team);
    return [&frames, space] {
        space->reference.fill(frames.reference.samples());
        space->moved.fill(frames.moved.samples());
        return space->registration.align(space->reference, space->moved).motion.tx;
    };
}

Work nonrigid(const Frames& frames, Team* team) {
    const auto space = std::make_shared<registration::NonrigidRegistration>(
        frames.reference.shape(), registration::NonrigidOptions(), team);
    return [&frames, space] {
        const registration::RigidMotion start{.3 * std::numbers::pi / 180, 2.3, -1.7};
        const auto& found = space->run(frames.reference.samples(), frames.moved.samples(), start);
        return static_cast<double>(found.field.x[0]);
    };
}

void measure(const char* name, Elements side, int rounds, Team& team,
             Work (*make)(const Frames&, Team*)) {
    const Frames frames = frames_of(side);
    const Work alone = make(frames, nullptr), shared = make(frames, &team);
    const int repeats = 1 + static_cast<int>(.1 / wall(alone)); // runs for about .1 s
    constexpr int steps_of_a_second = 200'000'000;
    const int steps = steps_of_a_second / 10 / team.size() * team.size();
    std::vector<double> values(static_cast<std::size_t>(team.size()));
    std::vector<double> gains, controls, ratios;
    for (int round = 0; round < rounds; ++round) {
        double times[4] = {}, results[2] = {};
        const std::function<void()> parts[4] = {[&] { values[0] = computed(steps); },
                                                [&] {
                                                    team.run(team.size(), [&](int part, int) {
                                                        values[static_cast<std::size_t>(part)] =
                                                            computed(steps / team.size());
                                                    });
                                                },
                                                [&] {
                                                    for (int k = 0; k < repeats; ++k)
                                                        results[0] = alone();
                                                },
                                                [&] {
                                                    for (int k = 0; k < repeats; ++k)
                                                        results[1] = shared();
                                                }};
        for (int k = 0; k < 4; ++k) {
            const int part = round % 2 == 0 ? k : 3 - k;
            times[part] = wall(parts[part]);
        }
        if (results[0] != results[1] || !(values[0] > 0))
            throw std::logic_error("threads changed a result");
        controls.push_back(times[0] / times[1]);
        gains.push_back(times[2] / times[3]);
        ratios.push_back(gains.back() / controls.back());
    }
    fmt::print("{:<10} {:>5} {:>20} {:>20} {:>20}\n", name, side, with_interval(gains),
               with_interval(controls), with_interval(ratios));
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) try {
    const int threads = argc > 1 ? std::stoi(argv[1]) : 2;
    const int rounds = argc > 2 ? std::stoi(argv[2]) : 21;
    if (threads < 2 || rounds < 5 || argc > 3) {
        fmt::print(stderr, "usage: bench_team [THREADS, at least 2 [ROUNDS, at least 5]]\n");
        return 2;
    }
    Team team(threads);
    fmt::print("{} threads over one, wall time\n", threads);
    fmt::print("{:<10} {:>5} {:>20} {:>20} {:>20}\n", "", "side", "registration", "computing",
               "ratio");
    for (const Elements side : {256, 512, 1024})
        measure("rigid", side, rounds, team, rigid);
    for (const Elements side : {512, 1024})
        measure("nonrigid", side, rounds, team, nonrigid);
} catch (const std::exception& error) {
    fmt::print(stderr, "bench_team: {}\n", error.what());
    return 1;
}
