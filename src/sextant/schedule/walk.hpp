// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/program.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace sextant {

/// The tag of each message step: k for the k-th message from one rank to another, so that both
/// sides agree without talking. 0 for other steps.
std::vector<int> message_tags(const Program& program);

/// Where one rank stands in its program: which steps may start now. Executor and prover walk
/// programs with it and differ only in what starting and finishing mean.
///
/// Nothing allocates after construction. Keep `program` and `dependences` alive.
class Walk {
  public:
    Walk(const Program& program, const Dependences& dependences);

    /// Back to the start.
    void reset();

    static constexpr int none = -1;
    /// The next message, or the next piece of work, that may start; `none` when there is none now.
    /// Each step is given out once: in the order in which they became possible, but work that a
    /// message waits for before work that only this rank needs, since that may be the longer way.
    int next_message() { return messages_.pop(); }
    int next_work();

    /// Says that a step has finished.
    void finish(int step);

    bool done() const { return unfinished_ == 0; }
    int unfinished() const { return unfinished_; }
    bool finished(int step) const { return finished_[static_cast<std::size_t>(step)] != 0; }

    /// Whether what a step reads through a region (an index into Program::regions) is there.
    bool readable(std::uint32_t region) const { return needs_[regions_at_ + region] == 0; }
    /// Whether the destination of a fold may be written.
    bool may_commit(int step) const {
        return needs_[commits_at_ + static_cast<std::size_t>(step)] == 0;
    }

  private:
    /// First in, first out; each step passes once, so it never wraps.
    struct Queue {
        std::vector<int> items;
        std::size_t head = 0, tail = 0;
        void push(int item) { items[tail++] = item; }
        int pop() { return head < tail ? items[head++] : none; }
    };

    void offer(int step);
    void list_rounds();
    void close_rounds();

    const Program& program_;
    const Dependences& dependences_;
    // What is still awaited: by step, then by step for its commit, then by region; one block, since
    // a run starts by copying it.
    std::vector<std::uint32_t> needs_, needs_at_start_;
    std::size_t commits_at_ = 0, regions_at_ = 0;
    std::vector<std::uint8_t> finished_;
    Queue messages_, work_, awaited_work_;
    int unfinished_ = 0;

    // Only where there is a window; by place of the round among those that have messages.
    std::vector<int> rounds_;
    std::vector<int> messages_in_round_, open_; // at the start, and unfinished now
    std::vector<std::vector<int>> held_;        // messages that the window holds back
    std::vector<std::uint32_t> place_;          // of each step's round
    std::size_t oldest_ = 0;                    // the first round with an unfinished message
    std::size_t held_from_ = 0;                 // the first round that the window holds back
};

} // namespace sextant
