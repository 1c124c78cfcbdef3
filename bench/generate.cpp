// SPDX-License-Identifier: BSD-3-Clause
// The time to generate one rank's program, per step.
//
//   bench_generate
//
// Method: whole programs are generated, as before a run, for some ranks evenly spaced in the group;
// their time is divided by their number of steps. Medians over repetitions are reported.
#include "sextant/compositing/catalogue.hpp"
#include "sextant/core/statistics.hpp"

#include <chrono>

#include <fmt/format.h>

namespace {

using namespace sextant;
using Clock = std::chrono::steady_clock;

void measure(const char* name, const compositing::Tuning& tuning, int ranks) {
    const compositing::Algorithm& algorithm = compositing::find(name);
    const auto task = compositing::one_image_each(ranks, Elements{1} << 23);
    std::vector<double> times;
    std::size_t steps = 0;
    for (int repetition = 0; repetition < 200; ++repetition) {
        const int rank = static_cast<int>(static_cast<std::int64_t>(repetition) * 7919 % ranks);
        const auto begin = Clock::now();
        const Program program = compositing::program(algorithm, task, tuning, rank);
        const std::chrono::duration<double> took = Clock::now() - begin;
        steps = program.steps.size();
        times.push_back(took.count() / static_cast<double>(std::max<std::size_t>(1, steps)));
    }
    const Interval interval = interval_of_median(times);
    fmt::print("{:<14} {:<18} {:>6} {:>7} {:>9.1f} [{:.1f}, {:.1f}]\n", name, to_text(tuning),
               ranks, steps, median(times) * 1e9, interval.low * 1e9, interval.high * 1e9);
}

} // namespace

int main() {
    fmt::print("{:<14} {:<18} {:>6} {:>7} {:>9}\n", "algorithm", "tuning", "ranks", "steps",
               "ns/step");
    for (int ranks : {8, 64, 1024, 16384}) {
        measure("direct-send", {}, ranks);
        measure("shift-based", {{}, 1}, ranks);
        measure("binary-swap", {}, ranks);
        std::vector<int> eights;
        for (int left = ranks; left > 1; left /= std::min(left, 8))
            eights.push_back(std::min(left, 8));
        measure("radix-k", {eights, 0}, ranks);
    }
}
