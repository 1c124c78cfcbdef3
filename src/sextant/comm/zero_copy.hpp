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

/// Data in peers' buffers that a rank reads during a run: operands of folds and kernels, read in
/// the sender's memory until the last step that uses them has finished.
class Borrowing {
  public:
    Borrowing(const Program& program, const Loans& loans, BufferAddresses& places);

    /// Lets the steps that use a received message read the sender's buffer. Returns false, doing
    /// nothing, if an operand cannot be read there, such as one of a fold that is not contiguous;
    /// the message must then be copied.
    bool borrow(int receive, std::span<const Blocks> lent);
    /// True if a compressed message can be read without decompressing it first: only folds can.
    bool can_read_code(int receive) const;
    /// Lets the folds that use a compressed message read it directly, starting at any position.
    void borrow(int receive, const kernel::SparseCode& code);

    /// Reports that a step is done: calls `give_back` with each receive whose data is no longer
    /// needed.
    template <class GiveBack>
    void step_done(int step, GiveBack&& give_back) {
        forget_operands(step);
        for (const int receive : receives_of_[static_cast<std::size_t>(step)]) {
            auto& uses_left = held_[static_cast<std::size_t>(receive)];
            if (uses_left > 0 && --uses_left == 0)
                give_back(receive);
        }
    }

  private:
    Blocks piece(const Loans::Use& use, std::span<const Blocks> lent) const;
    void forget_operands(int step);

    const Program& program_;
    const Loans& loans_;
    BufferAddresses& places_;
    // for each step: the receives whose data it may read in the sender's buffer
    std::vector<std::vector<int>> receives_of_;
    std::vector<std::uint32_t> held_; // remaining uses of each receive's data
};

/// Folds and kernels that write their result directly into the receiver's memory, so that the
/// message moves no data. Without a destination from the receiver they write into their own region,
/// and the message is sent from there. Which of the two applies may be known only once the receiver
/// has begun the run.
class DirectDelivery {
  public:
    /// Messages whose size varies, or that are compressed, are always sent. Keeps references to its
    /// arguments; `encoding` is read during runs only.
    DirectDelivery(const Program& program, const Loans& loans, const MessageTable& table,
                   const BufferAddresses& places, const Operator& op,
                   const std::optional<Encoding>& encoding);

    /// Begins a run on `exchange`.
    void begin(const Exchange& exchange);

    /// The destination of a fold's result in the memory of the rank that receives it.
    Folding::ReceiveBuffer room_for(int fold);

    /// True if the destinations of a compute step's results are known. They become known as soon as
    /// the receiving ranks begin the run, which depends on nothing else, so waiting for them cannot
    /// deadlock.
    bool is_settled(const Step& step);
    /// The blocks to which a kernel writes a region (an index into Program::regions); call only if
    /// is_settled.
    Blocks place_of_made(std::uint32_t region) const;

    /// True if all data of a send is in the receiver's memory already.
    bool delivered(int send) const { return delivered_[static_cast<std::size_t>(send)] != 0; }

  private:
    const Step& step_at(int step) const { return program_.steps[static_cast<std::size_t>(step)]; }
    bool sent_as_it_turns_out(int send) const;
    ReceiveBuffer room_of(int send) const { return exchange_->room(table_.message_of(send)); }
    bool is_known(int send);
    bool fits(int send, const Blocks& room) const;
    Blocks place_within(std::uint32_t region, int send, const Blocks& room) const;

    const Program& program_;
    const Loans& loans_;
    const MessageTable& table_;
    const BufferAddresses& places_;
    const bool varies_in_size_;
    const std::optional<Encoding>& encoding_;
    // State of the current run, or of the last one.
    const Exchange* exchange_ = nullptr;
    std::vector<std::uint8_t> delivered_; // for each step: true if its data is at the receiver
    std::vector<std::uint8_t> settled_;   // for each step: true if its destination is known
};

/// Runs the compute steps of a program with their kernels.
class Computing {
  public:
    /// `progress` is for kernels to call (Computation::progress). Keeps references to its
    /// arguments.
    /// Requires  a kernel for each kernel number (std::logic_error naming the rank).
    Computing(const Program& program, std::vector<Kernel> kernels, const BufferAddresses& places,
              const DirectDelivery& delivery, int rank, const std::function<void()>& progress);

    /// Runs a step for which DirectDelivery::is_settled is true. Throws what its kernel throws.
    void run(const Step& step);

  private:
    const Program& program_;
    const std::vector<Kernel> kernels_;
    const BufferAddresses& places_;
    const DirectDelivery& delivery_;
    const std::function<void()>& progress_;
    std::vector<Blocks> read_; // sources of the current kernel
    std::vector<Blocks> made_; // destinations of its results
};

} // namespace sextant
