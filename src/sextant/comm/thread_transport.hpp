// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/neighbourhood.hpp"
#include "sextant/comm/thread_group.hpp"
#include "sextant/comm/transport.hpp"
#include "sextant/comm/waiting.hpp"

namespace sextant {

/// A rank's end of a group of threads, who are all neighbours: what one sees, all see.
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
    std::vector<Note> taken_; // swapped with the inbox's, so that both keep their room
};

} // namespace sextant
