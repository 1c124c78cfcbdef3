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
/// sides agree without communication. Other steps have tag 0.
std::vector<int> message_tags(const Program& program);

/// Tracks one rank's progress through its program: which steps may start now. The executor and the
/// prover both use this class; they differ only in how they start and finish a step.
///
/// Allocates only in the constructor. `dependences` must outlive the object.
class Walk {
  public:
    Walk(const Program& program, const Dependences& dependences)
        : Walk(program, dependences, dependences.all_needs()) {}
    /// A walk that cannot be reset, with Dependences::take_needs: saves memory.
    Walk(const Program& program, const Dependences& dependences, std::vector<std::uint32_t> needs);

    /// Returns to the start of the program.
    void reset();

    static constexpr int none = -1;
    /// The next message, or the next piece of work, that may start; `none` if nothing may start
    /// now. Each step is returned once, in the order in which steps become ready, except that work
    /// that a message waits for comes first, because it may be on a longer path of dependences.
    int next_message() { return pop(messages_); }
    int next_work();

    /// Must be called when a step has finished.
    void finish(int step);

    bool done() const { return unfinished_ == 0; }
    int unfinished() const { return unfinished_; }
    bool finished(int step) const {
        return (flags_[static_cast<std::size_t>(step)] & is_finished) != 0;
    }

    /// True if a region that a step reads (an index into Program::regions) is complete.
    bool readable(std::uint32_t region) const { return needs_[regions_at_ + region] == 0; }
    /// True if the destination of a fold may be written.
    bool may_commit(int step) const {
        return needs_[commits_at_ + static_cast<std::size_t>(step)] == 0;
    }

  private:
    /// A part of `queued_`, from `first` on; first in, first out. Each step is pushed once, so the
    /// queue never wraps around.
    struct Queue {
        std::size_t first = 0, head = 0, tail = 0;
    };

    void push(Queue& queue, int step) { queued_[queue.tail++] = step; }
    int pop(Queue& queue) { return queue.head < queue.tail ? queued_[queue.head++] : none; }
    void start();
    void offer(int step);
    void list_rounds(const Program& program);
    void close_rounds();

    const Dependences& dependences_;
    // The numbers of unfinished predecessors of each step, of each step's commit and of each
    // region, in this order.
    std::vector<std::uint32_t> needs_;
    const std::size_t commits_at_, regions_at_;
    enum Flag : std::uint8_t { is_message_step = 1, is_finished = 2 };
    std::vector<std::uint8_t> flags_; ///< by step
    std::vector<int> queued_;
    Queue messages_, work_, awaited_work_;
    int unfinished_ = 0;

    const int window_;
    // Used only with a window. Rounds are indexed by their position among those with messages.
    std::vector<int> rounds_;
    std::vector<int> messages_in_round_, open_; // messages per round: all, and unfinished
    std::vector<std::vector<int>> held_;        // messages that the window holds back
    std::vector<std::uint32_t> place_;          // index of each step's round
    std::size_t oldest_ = 0;                    // the first round with an unfinished message
    std::size_t held_from_ = 0;                 // the first round that the window holds back
};

} // namespace sextant
