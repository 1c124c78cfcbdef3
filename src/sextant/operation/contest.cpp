// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/contest.hpp"

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

/// So many repetitions after a barrier.
Turn time(const Communicator& communicator, const std::function<void()>& work, int repeats) {
    communicator.barrier();
    const Seconds cpu = cpu_of_this_thread();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i)
        work();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    return {took.count(), cpu_of_this_thread() - cpu};
}

/// The slowest rank's time of a repetition, and the work of all.
Turn take_turn(const Communicator& communicator, const std::function<void()>& work, int repeats,
               bool barriers) {
    const int together = barriers ? 1 : repeats;
    Turn mine;
    for (int done = 0; done < repeats; done += together) {
        const Turn some = time(communicator, work, together);
        mine.wall += some.wall / repeats;
        mine.cpu += some.cpu / repeats;
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
    std::vector<int> repeats(contestants.size(), 1);
    std::vector<std::size_t> order(contestants.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937 random(1); // the same on all ranks
    for (int round = -warm_up; round < options.rounds; ++round) {
        if (options.progress)
            options.progress(round);
        std::shuffle(order.begin(), order.end(), random);
        for (const std::size_t c : order) {
            const Turn turn = take_turn(communicator, contestants[c], repeats[c], options.barriers);
            if (round < 0) {
                const double needed = std::ceil(options.least_turn / std::max(turn.wall, 1e-9));
                repeats[c] = static_cast<int>(std::clamp(needed, 1.0, 1.0 * options.most_repeats));
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
