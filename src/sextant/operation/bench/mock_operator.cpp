// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/bench/mock_operator.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <stdexcept>

#include <fmt/format.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace sextant::operation {

namespace {

using Clock = std::chrono::steady_clock;

/// Timers of this thread may be late by a nanosecond, not by the usual 50 microseconds.
void sharpen_timers() {
#ifdef __linux__
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
#endif
}

void work_for(Seconds time) {
    const auto end = Clock::now() + std::chrono::duration<double>(time);
    while (Clock::now() < end) {
    }
}

void sleep_for(Seconds time, SleepError& error) {
    thread_local Seconds debt = [] { // what this thread has slept too long
        sharpen_timers();
        return 0.0;
    }();
    const auto begin = Clock::now();
    const Seconds asked = std::max(0.0, time - debt);
    const auto whole = static_cast<time_t>(asked);
    const timespec duration{whole, static_cast<long>((asked - static_cast<Seconds>(whole)) * 1e9)};
    nanosleep(&duration, nullptr);
    const Seconds slept = std::chrono::duration<double>(Clock::now() - begin).count();
    debt += slept - time;
    error.nanoseconds += static_cast<std::int64_t>((slept - asked) * 1e9);
    ++error.sleeps;
}

scan::Interval interval_at(const std::byte* place) {
    scan::Interval interval;
    std::memcpy(&interval, place, sizeof interval);
    return interval;
}

} // namespace

Seconds SleepError::mean() const {
    return sleeps > 0 ? 1e-9 * static_cast<Seconds>(nanoseconds) / static_cast<Seconds>(sleeps) : 0;
}

Operator mock_operator(const scan::OperatorTime& time, bool busy, SleepError& error) {
    Operator op;
    op.name = "mock";
    op.element = {"interval", sizeof(scan::Interval)};
    op.fold = [&time, busy, &error](FoldFunction::Sources sources, std::byte* to,
                                    Elements elements) {
        for (std::size_t at = 0; at < static_cast<std::size_t>(elements) * sizeof(scan::Interval);
             at += sizeof(scan::Interval)) {
            scan::Interval sum = interval_at(sources[0] + at);
            for (const std::byte* source : sources.subspan(1)) {
                const scan::Interval next = interval_at(source + at);
                if (sum.last != next.first) {
                    throw std::logic_error(fmt::format("[{}, {}) is combined with [{}, {})",
                                                       sum.first, sum.last, next.first, next.last));
                }
                const Seconds takes = time({sum.first, next.first, next.last});
                busy ? work_for(takes) : sleep_for(takes, error);
                sum.last = next.last;
            }
            std::memcpy(to + at, &sum, sizeof sum);
        }
    };
    return op;
}

} // namespace sextant::operation
