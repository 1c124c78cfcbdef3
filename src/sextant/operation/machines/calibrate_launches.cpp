// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/machines/calibrate_launches.hpp"

#include "sextant/operation/child_process.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

using Clock = std::chrono::steady_clock;

Seconds since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::string command_of(const Launches& launches, Seconds budget) {
    std::string command = launches.launcher.empty() ? "" : launches.launcher + " ";
    command += own_command();
    command += fmt::format(" calibrate --launches 1 --append --budget {:.0f}ms -o {}",
                           std::max(1.0, budget * 1e3), quoted(launches.file));
    for (const std::string& option : launches.options)
        command += " " + quoted(option);
    return command;
}

} // namespace

void run_launches(const Launches& launches) {
    constexpr Seconds grace = 120; // for a launcher on a machine that is busy
    const auto begin = Clock::now();
    // Until the first has ended: what it takes to start one, and to end the last burst.
    Seconds starting = launches.launcher.empty() ? .1 : .6;
    for (int k = 0; k < launches.count; ++k) {
        const Seconds part = (launches.budget - since(begin)) / (launches.count - k);
        const Seconds own = std::max(0.0, part - starting);
        const auto launched = Clock::now();
        run_process(command_of(launches, own), 2 * part + grace);
        starting = std::max(0.0, since(launched) - own);
    }
}

} // namespace sextant::operation
