// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/tick_clock.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace sextant {

namespace {

using Clock = std::chrono::steady_clock;

/// Long enough that reading the clock, some 50 ns, is no error to speak of.
constexpr Seconds long_enough = 2e-3;

Seconds since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Counts on in every state of the processor, at one rate: what the manual calls invariant.
bool counter_is_steady() {
#if defined(__x86_64__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & 1U << 8) != 0;
#else
    return false;
#endif
}

} // namespace

bool TickClock::reads_counter() {
    static const bool reads = counter_is_steady();
    return reads;
}

std::int64_t TickClock::read() {
#if defined(__x86_64__)
    if (reads_counter())
        return static_cast<std::int64_t>(__rdtsc());
#endif
    return Clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

void TickClock::restart() {
    static const Seconds usual = [] {
        const std::int64_t first = read();
        const Clock::time_point begin = Clock::now();
        while (since(begin) < long_enough) {
        }
        return since(begin) / static_cast<double>(read() - first);
    }();
    usual_ = usual;
    begun_ = Clock::now();
    start_ = read();
}

Seconds TickClock::tick() const {
    const Seconds passed = since(begun_);
    const std::int64_t counted = ticks();
    return passed >= long_enough && counted > 0 ? passed / static_cast<double>(counted) : usual_;
}

} // namespace sextant
