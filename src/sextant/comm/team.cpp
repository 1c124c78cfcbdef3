// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/team.hpp"

#include "sextant/core/error.hpp"

#include <chrono>
#include <utility>

#include <fmt/format.h>

namespace sextant {

namespace {

/// How long a thread looks out for work before it falls asleep: longer than what one piece of a
/// registration waits for the next, shorter than the frames that are read between registrations.
constexpr std::chrono::microseconds patience{50};

/// Until `done`, or patience is over.
template <class Done>
void look_out(const Done& done) {
    const auto until = std::chrono::steady_clock::now() + patience;
    constexpr int looks = 64; // between two at the clock
    while (std::chrono::steady_clock::now() < until) {
        for (int look = 0; look < looks; ++look) {
            if (done())
                return;
        }
    }
}

} // namespace

Team::Team(int size) {
    if (size < 1)
        throw InvalidTask(fmt::format("a team of {} threads, expected 1 or more", size));
    for (int member = 1; member < size; ++member)
        others_.emplace_back([this, member] { work(member); });
}

Team::~Team() {
    left_.store(-1);
    left_.notify_all();
    for (std::thread& other : others_)
        other.join();
}

void Team::share(int parts, Work body, const void* job) {
    if (parts < 1)
        return;
    work_ = body;
    job_ = job;
    failed_.store(false, std::memory_order_relaxed);
    undone_.store(parts, std::memory_order_relaxed);
    left_.store(parts, std::memory_order_release);
    left_.notify_all();
    int part = 0;
    while (take(part))
        do_part(part, 0);
    look_out([this] { return undone_.load(std::memory_order_acquire) == 0; });
    for (int undone = undone_.load(std::memory_order_acquire); undone != 0;
         undone = undone_.load(std::memory_order_acquire))
        undone_.wait(undone, std::memory_order_acquire);
    if (failed_.load(std::memory_order_relaxed))
        std::rethrow_exception(std::exchange(failure_, nullptr));
}

/// What was written before the parts were offered is read only by who has taken one: until that is
/// done nothing else is offered.
bool Team::take(int& part) {
    int left = left_.load(std::memory_order_relaxed);
    while (left > 0) {
        if (left_.compare_exchange_weak(left, left - 1, std::memory_order_acquire,
                                        std::memory_order_relaxed)) {
            part = left - 1;
            return true;
        }
    }
    return false;
}

void Team::do_part(int part, int member) {
    try {
        work_(job_, part, member);
    } catch (...) {
        if (!failed_.exchange(true))
            failure_ = std::current_exception();
    }
    if (undone_.fetch_sub(1, std::memory_order_acq_rel) == 1)
        undone_.notify_one();
}

void Team::work(int member) {
    for (;;) {
        int part = 0;
        while (take(part))
            do_part(part, member);
        look_out([this] { return left_.load(std::memory_order_relaxed) != 0; });
        left_.wait(0, std::memory_order_relaxed);
        if (left_.load(std::memory_order_relaxed) < 0)
            return;
    }
}

} // namespace sextant
