// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/encoding.hpp"
#include "sextant/comm/folding.hpp"
#include "sextant/comm/message_table.hpp"
#include "sextant/comm/transport.hpp"
#include "sextant/schedule/loans.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace sextant {

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

} // namespace sextant
