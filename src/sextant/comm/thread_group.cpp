// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/thread_group.hpp"

#include "sextant/comm/futex.hpp"
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
        wake_one(posted_);
}

void Inbox::sleep() {
    asleep_.store(true, std::memory_order_seq_cst);
    sleep_while(posted_, taken_);
    asleep_.store(false, std::memory_order_relaxed);
}

void ThreadGroup::check() const {
    if (cancelled_)
        throw PeerFailed(failed_rank_, fmt::format("rank {} failed", failed_rank_));
}

void ThreadGroup::cancel(int failed_rank) {
    {
        const std::lock_guard lock(mutex_);
        if (!cancelled_)
            failed_rank_ = failed_rank;
        cancelled_ = true;
    }
    for (const auto& child : children()) {
        if (const auto group = child.lock())
            group->cancel(failed_rank);
    }
    wake_all();
}

std::vector<std::weak_ptr<ThreadGroup>> ThreadGroup::children() {
    const std::lock_guard lock(mutex_);
    return children_;
}

void ThreadGroup::wake_all() {
    arrived_changed_.notify_all();
    for (Inbox& inbox : inboxes_)
        inbox.wake();
}

void ThreadGroup::rank_returns(int rank) {
    returned_[static_cast<std::size_t>(rank)] = true;
    wake_with_children();
}

void ThreadGroup::wake_with_children() {
    for (const auto& child : children()) { // takes the lock: whoever looked before now sleeps
        if (const auto group = child.lock())
            group->wake_with_children();
    }
    wake_all();
}

bool ThreadGroup::has_returned(int rank) const {
    const auto at = static_cast<std::size_t>(rank);
    return parent_ ? parent_->has_returned(ranks_of_parent_[at]) : returned_[at].load();
}

int ThreadGroup::first_returned() const {
    int rank = 0;
    while (rank < size_ && !has_returned(rank))
        ++rank;
    return rank < size_ ? rank : -1;
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
    int returned = -1;
    arrived_changed_.wait(lock, [&] {
        if (meetings_ != meeting || cancelled_)
            return true;
        returned = first_returned();
        return returned >= 0;
    });
    if (meetings_ != meeting)
        return;
    check();
    throw PeerFailed(returned, fmt::format("rank {} has returned, but other ranks wait for it in a "
                                           "collective call",
                                           returned));
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

std::shared_ptr<ThreadGroup> ThreadGroup::child(int sequence, int color, std::vector<int> ranks) {
    const std::lock_guard lock(mutex_);
    auto& group = splits_[{sequence, color}];
    const int size = static_cast<int>(ranks.size());
    if (!group) {
        group = std::make_shared<ThreadGroup>(shared_from_this(), std::move(ranks));
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
