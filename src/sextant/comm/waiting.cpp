// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/waiting.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <thread>
#include <utility>

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sextant {

int looks_before_sleep() {
    using Clock = std::chrono::steady_clock;
    static const int looks = [] {
        constexpr int pauses = 64, tries = 3, least = 2000, most = 100'000;
        constexpr std::chrono::microseconds spinning{200};
        Clock::duration fastest = spinning; // interruptions only add time
        for (int i = 0; i < tries; ++i) {
            const Clock::time_point begin = Clock::now();
            for (int pause = 0; pause < pauses; ++pause)
                pause_briefly();
            fastest = std::clamp(Clock::now() - begin, Clock::duration{1}, fastest);
        }
        return static_cast<int>(
            std::clamp<std::int64_t>(pauses * (spinning / fastest), least, most));
    }();
    return looks;
}

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

namespace {

/// Calls the system's futex, which unlike std::atomic::wait works between processes and with a time
/// limit.
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

Cores Cores::available() {
    Cores cores;
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) { // more cores than a cpu_set_t can hold
        for (unsigned core = 0; core < std::thread::hardware_concurrency() && core < most; ++core)
            cores.add(static_cast<int>(core));
        return cores;
    }
    for (int core = 0; core < CPU_SETSIZE && core < most; ++core) {
        if (CPU_ISSET(core, &set))
            cores.add(core);
    }
    return cores;
}

int Cores::count() const {
    int count = 0;
    for (const std::uint64_t word : mask_)
        count += std::popcount(word);
    return count;
}

bool Cores::has(int core) const {
    return core >= 0 && core < most &&
           (mask_[static_cast<std::size_t>(core / 64)] >> core % 64 & 1) != 0;
}

void Cores::add(const Cores& other) {
    for (std::size_t i = 0; i < mask_.size(); ++i)
        mask_[i] |= other.mask_[i];
}

void Cores::add(int core) {
    if (core >= 0 && core < most)
        mask_[static_cast<std::size_t>(core / 64)] |= std::uint64_t{1} << core % 64;
}

void move_to_core(int core) {
    cpu_set_t allowed, wanted;
    CPU_ZERO(&allowed);
    CPU_ZERO(&wanted);
    if (core >= CPU_SETSIZE || sched_getaffinity(0, sizeof allowed, &allowed) != 0 ||
        !CPU_ISSET(core, &allowed))
        return;
    CPU_SET(core, &wanted);
    sched_setaffinity(0, sizeof wanted, &wanted);
    sched_setaffinity(0, sizeof allowed, &allowed);
}

void separate_ranks(LastCore& own, const std::function<bool(int core)>& has_rank) {
    const int here = sched_getcpu();
    own.store(here, std::memory_order_relaxed);
    if (here < 0 || !has_rank(here))
        return;
    const Cores allowed = Cores::available();
    for (int core = 0; core < Cores::most; ++core) {
        if (!allowed.has(core) || has_rank(core))
            continue;
        move_to_core(core);
        own.store(core, std::memory_order_relaxed);
        return;
    }
}

bool is_crowded(std::uint64_t host, std::span<const Seat> ranks) {
    Cores cores;
    int ranks_here = 0;
    for (const Seat& seat : ranks) {
        if (seat.host != host)
            continue;
        cores.add(seat.cores);
        ++ranks_here;
    }
    return ranks_here > cores.count();
}

namespace {

thread_local WhileWaiting* innermost = nullptr;

} // namespace

WhileWaiting::WhileWaiting(std::function<void()> function)
    : function_(std::move(function)), outer_(innermost) {
    innermost = this;
}

WhileWaiting::~WhileWaiting() {
    innermost = outer_;
}

void WhileWaiting::call() {
    if (innermost)
        innermost->function_();
}

ProcessWatch::~ProcessWatch() {
    for (const pollfd& process : processes_) {
        if (process.fd >= 0)
            close(process.fd);
    }
}

void ProcessWatch::add(int process) {
    processes_.push_back({static_cast<int>(syscall(SYS_pidfd_open, process, 0)), POLLIN, 0});
}

bool ProcessWatch::has_ended(std::size_t which) {
    return processes_[which].fd >= 0 && ::poll(&processes_[which], 1, 0) > 0;
}

std::optional<std::size_t> ProcessWatch::first_ended() {
    if (::poll(processes_.data(), processes_.size(), 0) <= 0)
        return std::nullopt;
    for (std::size_t i = 0; i < processes_.size(); ++i) {
        if (processes_[i].fd >= 0 && processes_[i].revents != 0)
            return i;
    }
    return std::nullopt;
}

} // namespace sextant
