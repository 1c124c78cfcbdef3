// SPDX-License-Identifier: BSD-3-Clause
// The time to plan a new task, and to plan the same task again.
#include "sextant/core/statistics.hpp"
#include "sextant/machine/profile_file.hpp"
#include "sextant/planner/planner.hpp"

#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace sextant;

Seconds took(const std::function<void()>& what) {
    const auto begin = std::chrono::steady_clock::now();
    what();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

} // namespace

/// bench_plan [PROFILE]: plans for the machine of a profile, with one rank per node.
int main(int count, char** arguments) {
    const machine::Profile machine =
        count > 1 ? machine::read_profile(arguments[1]) : machine::built_in();
    std::fputs(fmt::format("{}: ms, medians of 11\n{:>6} {:>10} {:>10}\n", machine.name, "ranks",
                           "fresh", "again")
                   .c_str(),
               stdout);
    const planner::Work work{.operator_name = "over", .element_name = "f32", .element_size = 16};
    for (const int ranks : {2, 8, 16, 60, 64, 128}) {
        std::vector<double> fresh, again;
        for (int i = 0; i < 11; ++i) {
            planner::Planner planner(machine);
            const compositing::Task task = compositing::one_image_each(ranks, 2048 * 2048, 0);
            fresh.push_back(took([&] { planner.plan(task, work); }));
            again.push_back(took([&] { planner.plan(task, work); }));
        }
        std::fputs(fmt::format("{:>6} {:>10.3f} {:>10.4f}\n", ranks, median(fresh) * 1e3,
                               median(again) * 1e3)
                       .c_str(),
                   stdout);
    }
}
