// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/waiting.hpp"

#include <chrono>

#include <sched.h>

namespace sextant {

bool Yielding::yield() {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::microseconds long_for_a_rank{500};
    constexpr int sleeps_after = 256;
    if (sleeps_left_ > 0) {
        --sleeps_left_;
        return false;
    }
    const Clock::time_point begin = Clock::now();
    sched_yield();
    if (Clock::now() - begin > long_for_a_rank)
        sleeps_left_ = sleeps_after;
    return true;
}

} // namespace sextant
