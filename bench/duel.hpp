// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/statistics.hpp"

#include <cmath>
#include <ctime>
#include <string>
#include <vector>

#include <fmt/format.h>

// Times two implementations against each other on one thread.
namespace sextant::bench {

/// The CPU time of this thread in `body`, which other programs on the processor hardly affect.
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

/// The times of both implementations in each round, and their ratio within the round, which drift
/// of the machine hardly affects.
struct Duel {
    std::vector<double> ours, theirs, ratios;
};

/// Runs both implementations in each round; `ours` goes first in every second round.
template <class Ours, class Theirs>
Duel duel(int rounds, Ours&& ours, Theirs&& theirs) {
    Duel fought;
    for (int round = 0; round < rounds; ++round) {
        if (round % 2 == 0)
            fought.ours.push_back(milliseconds(ours));
        fought.theirs.push_back(milliseconds(theirs));
        if (round % 2 == 1)
            fought.ours.push_back(milliseconds(ours));
        fought.ratios.push_back(fought.ours.back() / fought.theirs.back());
    }
    return fought;
}

inline double root_mean_square(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values)
        sum += value * value;
    return std::sqrt(sum / static_cast<double>(values.size()));
}

/// The median with its confidence interval, divided by `unit`.
inline std::string with_interval(const std::vector<double>& values, double unit = 1) {
    if (values.empty())
        return "-";
    const Interval interval = interval_of_median(values);
    return fmt::format("{:.2f} [{:.2f}, {:.2f}]", median(values) / unit, interval.low / unit,
                       interval.high / unit);
}

} // namespace sextant::bench
