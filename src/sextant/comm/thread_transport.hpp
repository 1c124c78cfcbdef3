// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/thread_group.hpp"
#include "sextant/comm/transport.hpp"

namespace sextant {

/// A rank's end of a group.
class ThreadTransport : public Transport {
  public:
    ThreadTransport(std::shared_ptr<ThreadGroup> group, int rank)
        : group_(std::move(group)), rank_(rank) {}

    int rank() const override { return rank_; }
    int size() const override { return group_->size(); }
    bool shares_memory() const override { return true; }
    std::unique_ptr<Exchange> open(std::vector<Message> messages) override;
    void barrier() override { group_->barrier(); }
    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
        group_->all_gather(rank_, mine, all);
    }
    std::shared_ptr<Transport> split(int color, int key) override;

    ThreadGroup& group() { return *group_; }
    /// An exchange says how many notes it may have waiting, so that runs allocate nothing, and
    /// takes that back when it goes.
    void make_room(std::size_t notes);
    void need_less_room(std::size_t notes) { room_ -= notes; }

    std::vector<Note> early; ///< offers for a run that has not begun
    std::vector<Note> taken; ///< from the inbox; swapped with it, so that all keep their room

  private:
    std::shared_ptr<ThreadGroup> group_;
    const int rank_;
    int splits_ = 0;
    std::size_t room_ = 0; // for notes
};

} // namespace sextant
