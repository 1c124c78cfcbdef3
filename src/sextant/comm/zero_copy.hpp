// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/buffers.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/comm/folding.hpp"
#include "sextant/comm/messages.hpp"
#include "sextant/comm/transport.hpp"
#include "sextant/schedule/loans.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace sextant {

/// What a rank has borrowed from its peers in a run: operands of folds that are read where the
/// sender keeps them, until the last fold that reads them is done.
class Borrowing {
  public:
    Borrowing(const Program& program, const Loans& loans, Places& places);

    /// Points the folds that read what a receive brought at the sender's own bytes. False, and
    /// nothing done, where an operand is not in one piece there: then it must be copied.
    bool borrow(int receive, std::span<const Blocks> lent);
    /// The same, at a code, which is read from anywhere.
    void borrow(int receive, const kernel::SparseCode& code);

    /// A fold is done: calls `give_back` with each receive whose loan nothing reads any more.
    template <class GiveBack>
    void fold_done(int fold, GiveBack&& give_back) {
        forget_operands(fold);
        for (const int receive : receives_of_[static_cast<std::size_t>(fold)]) {
            auto& uses_left = held_[static_cast<std::size_t>(receive)];
            if (uses_left > 0 && --uses_left == 0)
                give_back(receive);
        }
    }

  private:
    const std::byte* piece(const Loans::Use& use, std::span<const Blocks> lent) const;
    void forget_operands(int fold);

    const Program& program_;
    const Loans& loans_;
    Places& places_;
    std::vector<std::vector<int>> receives_of_; // by fold: the receives whose loans it may read
    std::vector<std::uint32_t> held_;           // by receive: uses of its loan still to come
};

/// What a rank makes for others right where they want it: folds and kernels then write into the
/// receiver's memory, and its message moves nothing. Otherwise they write into their own place, and
/// the message takes it from there. Which it is may be known only once the receiver runs.
class DirectDelivery {
  public:
    /// Elements that vary in size, and messages that are codes, are sent as they turn out. Keep
    /// what it is given alive; `encoding` is read during runs only.
    DirectDelivery(const Program& program, const Loans& loans, const MessageTable& table,
                   const Places& places, const Operator& op,
                   const std::optional<Encoding>& encoding);

    /// A run begins, whose messages `exchange` moves.
    void begin(const Exchange& exchange);

    /// Where the rank that wants what a fold makes wants it.
    Folding::Room room_for(int fold);

    /// Whether it is settled where a compute step makes what it makes. It is once that rank runs
    /// for which it is made; no rank needs anything to get there, so who waits for that waits for
    /// nothing else.
    bool is_settled(const Step& step);
    /// Where a kernel makes a region (an index into Program::regions), once that is settled.
    Blocks place_of_made(std::uint32_t region) const;

    /// Whether all that a send takes lies with its receiver already.
    bool delivered(int send) const { return delivered_[static_cast<std::size_t>(send)] != 0; }

  private:
    const Step& step_at(int step) const { return program_.steps[static_cast<std::size_t>(step)]; }
    bool sent_as_it_turns_out(int send) const;
    Room room_of(int send) const { return exchange_->room(table_.message_of(send)); }
    bool is_known(int send);
    bool fits(int send, const Blocks& room) const;
    Blocks place_within(std::uint32_t region, int send, const Blocks& room) const;

    const Program& program_;
    const Loans& loans_;
    const MessageTable& table_;
    const Places& places_;
    const bool varies_in_size_;
    const std::optional<Encoding>& encoding_;
    // Of the run at hand, or the last.
    const Exchange* exchange_ = nullptr;
    std::vector<std::uint8_t> delivered_; // by step: sends whose bytes lie with the receiver
    std::vector<std::uint8_t> settled_;   // by step: sends of what kernels make, once that is known
};

/// The compute steps of a program: each by its kernel.
class Computing {
  public:
    /// `progress` is for kernels to call (Computation::progress). Keep what it is given alive.
    /// Requires  a kernel for each number (std::logic_error naming the rank).
    Computing(const Program& program, std::vector<Kernel> kernels, const Places& places,
              const DirectDelivery& delivery, int rank, const std::function<void()>& progress);

    /// Runs a step for which DirectDelivery::is_settled. Throws what its kernel throws.
    void run(const Step& step);

  private:
    const Program& program_;
    const std::vector<Kernel> kernels_;
    const Places& places_;
    const DirectDelivery& delivery_;
    const std::function<void()>& progress_;
    std::vector<Blocks> made_; // where the kernel at work makes what it makes
};

} // namespace sextant
