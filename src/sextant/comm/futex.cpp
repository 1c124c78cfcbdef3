// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/futex.hpp"

#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sextant {

namespace {

/// std::atomic waits in its own process only, and without a limit.
void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* time_limit) {
    syscall(SYS_futex, &word, operation, value, time_limit, nullptr, 0);
}

} // namespace

void sleep_while(std::atomic<std::uint32_t>& word, std::uint32_t value) {
    constexpr timespec not_for_long{0, 10'000'000};
    futex(word, FUTEX_WAIT, value, &not_for_long);
}

void wake_one(std::atomic<std::uint32_t>& word) {
    futex(word, FUTEX_WAKE, 1, nullptr);
}

} // namespace sextant
