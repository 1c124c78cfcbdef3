// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/shared_memory_exchange.hpp"
#include "sextant/comm/transport.hpp"
#include "sextant/comm/waiting.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace sextant {

/// A queue of notes for one rank: several ranks post, one takes.
class Inbox {
  public:
    void post(const Note& note);
    /// Swaps the posted notes with `to`, which must be empty.
    void take(std::vector<Note>& to);
    /// Reserves space for `notes` notes, so that posting them allocates nothing.
    void reserve(std::size_t notes);
    /// Ends a sleep, with or without a note.
    void wake();
    /// Sleeps until something has been posted since the last take, but only for a short time.
    void sleep();

  private:
    std::mutex mutex_;
    std::vector<Note> notes_;
    std::atomic<std::uint32_t> posted_{0};
    std::uint32_t taken_ = 0; // used by the owner only
    std::atomic<bool> asleep_{false};
};

/// The state shared by the ranks of a group.
class ThreadGroup : public std::enable_shared_from_this<ThreadGroup> {
  public:
    explicit ThreadGroup(int size)
        : size_(size),
          inboxes_(static_cast<std::size_t>(size)),
          returned_(static_cast<std::size_t>(size)) {}
    /// A group of some ranks of `parent`.
    ThreadGroup(std::shared_ptr<ThreadGroup> parent, std::vector<int> ranks)
        : ThreadGroup(static_cast<int>(ranks.size())) {
        parent_ = std::move(parent);
        ranks_of_parent_ = std::move(ranks);
    }

    int size() const { return size_; }
    Inbox& inbox(int rank) { return inboxes_[static_cast<std::size_t>(rank)]; }
    /// True if there are fewer cores than ranks.
    bool crowded() const { return Cores::available().count() < size_; }

    /// Throws PeerFailed once the group is cancelled.
    void check() const;

    /// Makes every rank throw from whatever it waits for, in this group and all its subgroups.
    void cancel(int failed_rank);

    /// Marks a rank as done with this group and its subgroups: ranks that wait for it throw
    /// PeerFailed.
    void rank_returns(int rank);
    bool has_returned(int rank) const;

    /// Each rank stores its value and then reads all; waits twice, so that none is overwritten
    /// early.
    void all_gather(int rank, std::span<const std::byte> mine, std::span<std::byte> all);

    void barrier();

    /// Counts ranks in a run, which may be reading each other's memory.
    void enter_run();
    void leave_run() { running_.fetch_sub(1); }
    void wait_until_none_runs() const;

    /// The group of all ranks that ask with the same key; created by the first.
    std::shared_ptr<ThreadGroup> child(int sequence, int color, std::vector<int> ranks);

  private:
    std::vector<std::weak_ptr<ThreadGroup>> children();
    void wake_all();
    void wake_with_children();
    int first_returned() const; ///< -1: none

    /// Each rank runs its part under the lock, then waits until all have.
    template <class Part>
    void meet(Part&& part);

    const int size_;
    std::vector<Inbox> inboxes_;
    std::atomic<bool> cancelled_{false};
    std::atomic<int> failed_rank_{-1};
    std::atomic<int> running_{0};
    std::vector<std::atomic<bool>> returned_; // only in the root group
    std::shared_ptr<ThreadGroup> parent_;     // null in the root group
    std::vector<int> ranks_of_parent_;

    std::mutex mutex_;
    std::condition_variable arrived_changed_;
    int arrived_ = 0;
    std::uint64_t meetings_ = 0;
    std::vector<std::byte> gathered_;
    std::vector<std::weak_ptr<ThreadGroup>> children_;
    std::map<std::pair<int, int>, std::shared_ptr<ThreadGroup>> splits_; // until all have joined
    std::map<std::pair<int, int>, int> joined_;
};

/// One rank's end of a group of threads. All threads are neighbours, with the same memory.
class ThreadTransport : public Transport, private Neighbourhood {
  public:
    ThreadTransport(std::shared_ptr<ThreadGroup> group, int rank);

    int rank() const override { return rank_; }
    int size() const override { return group_->size(); }
    bool shares_memory() const override { return true; }
    std::unique_ptr<Exchange> open(std::vector<Message> messages) override;
    Memory memory(Bytes size) override { return Memory(size); }
    void barrier() override { group_->barrier(); }
    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
        group_->all_gather(rank_, mine, all);
    }
    std::shared_ptr<Transport> split(int color, int key) override;

  private:
    int own_rank() const override { return rank_; }
    bool has(int) const override { return true; }
    std::uintptr_t base(int) const override { return 0; }
    bool shows(const std::byte*, Bytes) const override { return true; }
    void make_room(std::size_t notes) override;
    void post(int to, const Note& note) override { group_->inbox(to).post(note); }
    const std::vector<Note>& take() override;
    void rest(int idle) override;
    bool is_gone(int rank) const override { return group_->has_returned(rank); }
    void enter_run() override { group_->enter_run(); }
    void leave_run() override { group_->leave_run(); }
    void abandon_run() override;
    void leave_with_all() override;

    std::shared_ptr<ThreadGroup> group_;
    const int rank_;
    const bool crowded_;
    Yielding yielding_;
    int splits_ = 0;
    std::size_t room_ = 0;    // for notes
    std::vector<Note> taken_; // swapped with the inbox's vector, so that both keep their capacity
};

} // namespace sextant
