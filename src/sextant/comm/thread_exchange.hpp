// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/thread_transport.hpp"

#include <map>
#include <utility>
#include <vector>

namespace sextant {

/// Messages between threads: the sender says where its bytes lie, the receiver copies or reads them
/// there and says when it is done.
class ThreadExchange : public Exchange {
  public:
    ThreadExchange(ThreadTransport& transport, std::vector<Message> messages);
    ~ThreadExchange() override;

    bool lends() const override { return true; }
    void place(int message, const std::vector<Blocks>& blocks) override {
        at(message).blocks = blocks;
    }

    void begin() override;
    void end() override { group_.leave_run(); }
    void abandon() override;
    void start(int m) override;
    void start_short(int m, Bytes bytes) override { offer(m, bytes); }
    void start_empty(int m) override { offer(m, 0); }
    int poll(std::span<Completion> completions) override;
    void give_back(int m) override;
    void copy_loan(int m) override;
    void rest(int idle) override;

  private:
    struct Receive {
        bool started = false, offered = false;
        Note offer;
    };

    Message& at(int message) { return messages_[static_cast<std::size_t>(message)]; }

    /// Waiting at once: a peer may be one run ahead.
    std::size_t most_notes() const { return 2 * messages_.size(); }
    void offer(int m, Bytes bytes);
    void take(const Note& note);
    void match(int m);

    ThreadTransport& transport_;
    ThreadGroup& group_;
    std::vector<Message> messages_;
    std::vector<Receive> receives_;                // by message
    std::map<std::pair<int, int>, int> by_sender_; // (peer, tag) of each receive
    std::vector<Completion> finished_;
    const bool crowded_;
};

} // namespace sextant
