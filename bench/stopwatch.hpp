// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/statistics.hpp"

#include <ctime>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace sextant::bench {

/// How long a body has the processor, on the thread's own clock, which stands still while another
/// program has it.
template <class Body>
double milliseconds(Body&& body) {
    const auto now = [] {
        timespec time{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
    };
    const double begin = now();
    body();
    return now() - begin;
}

/// The median with its bootstrap interval, as text.
inline std::string with_interval(const std::vector<double>& values, double unit = 1) {
    const Interval interval = interval_of_median(values);
    return fmt::format("{:.2f} [{:.2f}, {:.2f}]", median(values) / unit, interval.low / unit,
                       interval.high / unit);
}

} // namespace sextant::bench
