// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/bench/contest.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <numeric>
#include <random>

namespace sextant::operation {

namespace {

/// What one rank measured of one turn, a repetition.
struct Turn {
    Seconds wall = 0, cpu = 0;
};

Seconds cpu_of_this_thread() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<Seconds>(now.tv_sec) + 1e-9 * static_cast<Seconds>(now.tv_nsec);
}

/// How often a contestant repeats its work in a turn, and whether each time is timed by itself.
struct Length {
    int repeats = 1;
    bool apart = true;
};

/// What leaving a barrier at different times is nothing against.
constexpr Seconds long_enough_to_time = 20e-6;

Length length_of(Seconds repetition, const ContestOptions& options) {
    const double needed = std::ceil(options.least_turn / std::max(repetition, 1e-9));
    return {static_cast<int>(std::clamp(needed, 1.0, 1.0 * options.most_repeats)),
            options.barriers || (options.before && repetition > long_enough_to_time)};
}

/// So many repetitions after a barrier.
Turn time(const Communicator& communicator, const std::function<void()>& work,
          const ContestOptions& options, int repeats) {
    if (options.before)
        options.before();
    communicator.barrier();
    const Seconds cpu = cpu_of_this_thread();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i)
        work();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    return {took.count(), cpu_of_this_thread() - cpu};
}

/// The slowest rank's time of a repetition, and the work of all.
Turn take_turn(const Communicator& communicator, const std::function<void()>& work,
               const ContestOptions& options, const Length& length) {
    const int together = length.apart ? 1 : length.repeats;
    Turn mine;
    for (int done = 0; done < length.repeats; done += together) {
        const Turn some = time(communicator, work, options, together);
        mine.wall += some.wall / length.repeats;
        mine.cpu += some.cpu / length.repeats;
    }
    Turn all;
    for (const Turn& each : communicator.all_gather(mine)) {
        all.wall = std::max(all.wall, each.wall);
        all.cpu += each.cpu;
    }
    return all;
}

} // namespace

std::vector<Score> contest(const Communicator& communicator,
                           std::span<const std::function<void()>> contestants,
                           const ContestOptions& options) {
    constexpr int warm_up = 2;
    std::vector<Score> scores(contestants.size());
    std::vector<Length> lengths(contestants.size());
    std::vector<std::size_t> order(contestants.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937 random(1); // the same on all ranks
    for (int round = -warm_up; round < options.rounds; ++round) {
        if (options.progress)
            options.progress(round);
        std::shuffle(order.begin(), order.end(), random);
        for (const std::size_t c : order) {
            const Turn turn = take_turn(communicator, contestants[c], options, lengths[c]);
            if (round < 0) {
                lengths[c] = length_of(turn.wall, options);
                continue;
            }
            scores[c].wall.push_back(turn.wall);
            scores[c].cpu.push_back(turn.cpu);
        }
    }
    return scores;
}

Estimate estimate(std::span<const double> values) {
    return {median(values), interval_of_median(values)};
}

Estimate estimate_ratio(std::span<const Seconds> ours, std::span<const Seconds> reference) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < ours.size(); ++i)
        ratios.push_back(ours[i] / reference[i]);
    return estimate(ratios);
}

} // namespace sextant::operation
