// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <functional>
#include <span>
#include <vector>

namespace sextant::scan {

/// Values first … last − 1 of a series, combined.
struct Interval {
    Elements first = 0, last = 0;

    bool operator==(const Interval&) const = default;
};

/// One application of the operator to values of a series: [first, middle) ⊕ [middle, last).
struct Application {
    Elements first = 0, middle = 0, last = 0;

    bool operator==(const Application&) const = default;
};

/// How long an application takes. The same application takes the same time whenever it is asked
/// for, so that a run and its rehearsal have the same draws.
using OperatorTime = std::function<Seconds(const Application& what)>;

/// One application in a run: who did it, and when.
struct Bar {
    int rank = 0, thread = 0;
    Application what;
    Seconds begin = 0, end = 0; ///< from the start of the run
};

/// What the workers did with their time.
struct Usage {
    Elements applications = 0;
    Seconds makespan = 0; ///< to the end of the last application
    Seconds busy = 0;     ///< core-seconds within the operator, of all workers
    Seconds idle = 0;     ///< the rest of workers × makespan
    double imbalance = 1; ///< the busiest worker's time in the operator over the mean
    double efficiency =
        0; ///< of the workers, beside `serial`: what one would take, one after another
};

/// Input     the bars of a run of ranks × threads workers; what the series takes one worker.
Usage usage(std::span<const Bar> bars, int ranks, int threads, Seconds serial);

} // namespace sextant::scan
