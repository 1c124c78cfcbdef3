// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/thread_group.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

namespace sextant {

void Inbox::post(const Note& note) {
    {
        const std::lock_guard lock(mutex_);
        notes_.push_back(note);
    }
    wake();
}

void Inbox::take(std::vector<Note>& to) {
    if (posted_.load(std::memory_order_acquire) == taken_)
        return;
    const std::lock_guard lock(mutex_);
    taken_ = posted_.load(std::memory_order_acquire);
    std::swap(to, notes_);
}

void Inbox::reserve(std::size_t notes) {
    const std::lock_guard lock(mutex_);
    notes_.reserve(notes);
}

void Inbox::wake() {
    posted_.fetch_add(1, std::memory_order_seq_cst);
    if (asleep_.load(std::memory_order_seq_cst))
        posted_.notify_one();
}

void Inbox::sleep() {
    asleep_.store(true, std::memory_order_seq_cst);
    posted_.wait(taken_, std::memory_order_seq_cst);
    asleep_.store(false, std::memory_order_relaxed);
}

void ThreadGroup::check() const {
    if (cancelled_)
        throw PeerFailed(failed_rank_, fmt::format("rank {} failed", failed_rank_));
}

void ThreadGroup::cancel(int failed_rank) {
    std::vector<std::weak_ptr<ThreadGroup>> children;
    {
        const std::lock_guard lock(mutex_);
        if (!cancelled_)
            failed_rank_ = failed_rank;
        cancelled_ = true;
        children = children_;
    }
    arrived_changed_.notify_all();
    for (Inbox& inbox : inboxes_)
        inbox.wake();
    for (const auto& child : children) {
        if (const auto group = child.lock())
            group->cancel(failed_rank);
    }
}

template <class Part>
void ThreadGroup::meet(Part&& part) {
    std::unique_lock lock(mutex_);
    check();
    part();
    const std::uint64_t meeting = meetings_;
    if (++arrived_ == size_) {
        arrived_ = 0;
        ++meetings_;
        arrived_changed_.notify_all();
    }
    arrived_changed_.wait(lock, [&] { return meetings_ != meeting || cancelled_; });
    if (meetings_ == meeting)
        check();
}

void ThreadGroup::all_gather(int rank, std::span<const std::byte> mine, std::span<std::byte> all) {
    if (mine.size() * static_cast<std::size_t>(size_) != all.size()) {
        throw std::logic_error("all_gather: sizes differ");
    }
    meet([&] {
        gathered_.resize(all.size());
        std::copy(mine.begin(), mine.end(),
                  gathered_.begin() + static_cast<std::ptrdiff_t>(mine.size()) * rank);
    });
    meet([&] { std::copy(gathered_.begin(), gathered_.end(), all.begin()); });
}

void ThreadGroup::barrier() {
    meet([] {});
}

void ThreadGroup::enter_run() {
    running_.fetch_add(1);
    if (cancelled_) {
        leave_run();
        check();
    }
}

void ThreadGroup::wait_until_none_runs() const {
    while (running_.load() > 0)
        std::this_thread::yield();
}

std::shared_ptr<ThreadGroup> ThreadGroup::child(int sequence, int color, int size) {
    const std::lock_guard lock(mutex_);
    auto& group = splits_[{sequence, color}];
    if (!group) {
        group = std::make_shared<ThreadGroup>(size);
        children_.push_back(group);
    }
    const std::shared_ptr<ThreadGroup> made = group;
    if (++joined_[{sequence, color}] == size) {
        splits_.erase({sequence, color});
        joined_.erase({sequence, color});
    }
    return made;
}

} // namespace sextant
