// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/strips.hpp"

#include "sextant/machine/interpolate.hpp"

#include <algorithm>

namespace sextant::planner {

namespace {

/// Returns the time of a strip of `results` results, each with `operands` units of work.
model::Span pass(const machine::Work& work, Elements results, int operands, double idle) {
    if (work.passes.empty())
        return model::Span(*work.seconds_per_element) * static_cast<double>(results);
    const model::Span together(machine::at_pass(work.passes, results, operands));
    if (work.alone.empty())
        return together;
    const model::Span alone(machine::at_pass(work.alone, results, operands));
    return together * (1 - idle) + alone * idle;
}

} // namespace

std::optional<model::Span> strip_time(const StripWork& work, int threads, int busy,
                                      const machine::Profile& machine) {
    const machine::Work* const costs = machine.find_kernel(work.kernel, work.element);
    if (!costs)
        return std::nullopt;
    const int cores = machine.cores > 0 ? machine.cores : busy;
    const double turns = std::max(1.0, static_cast<double>(busy) / cores);
    const double idle = cores > busy ? static_cast<double>(cores - busy) / (cores - 1) : 0;
    const Elements strip = (work.results + threads - 1) / threads;
    model::Span time = pass(*costs, strip, work.usual, idle);
    time.low = std::min(time.low, pass(*costs, strip, work.least, idle).low);
    time.high = std::max(time.high, pass(*costs, strip, work.most, idle).high);
    return time * turns;
}

} // namespace sextant::planner
