// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/places.hpp"
#include "sextant/comm/transport.hpp"
#include "sextant/schedule/loans.hpp"

#include <vector>

namespace sextant {

/// The messages of a program, numbered in step order as an Exchange numbers them.
class MessageTable {
  public:
    MessageTable(const Program& program, const Dependences& dependences, const Loans& loans,
                 Bytes element_size);

    int size() const { return static_cast<int>(steps_.size()); }
    int message_of(int step) const { return of_step_[static_cast<std::size_t>(step)]; }
    int step_of(int message) const { return steps_[static_cast<std::size_t>(message)]; }
    Bytes bytes(int message) const { return bytes_[static_cast<std::size_t>(message)]; }

    /// What an Exchange wants to know of each, where its bytes lie now.
    std::vector<Message> messages(const Places& places) const;
    /// The blocks of one of them, in place of what `to` held.
    void list_blocks(int message, const Places& places, std::vector<Blocks>& to) const;

  private:
    const Program& program_;
    const Dependences& dependences_;
    const Loans& loans_;
    std::vector<int> of_step_; // -1 for folds and copies
    std::vector<int> steps_;
    std::vector<Bytes> bytes_;
};

} // namespace sextant
