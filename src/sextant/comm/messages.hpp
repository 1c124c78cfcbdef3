// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/buffers.hpp"
#include "sextant/comm/transport.hpp"
#include "sextant/core/operator.hpp"
#include "sextant/kernel/fold/sparse_code.hpp"
#include "sextant/schedule/loans.hpp"

#include <optional>
#include <span>
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

/// The messages of a program, as codes (kernel/fold/sparse_code.hpp): written before they are sent,
/// read where they came. Each has room for its elements as they are, at the sender and at the
/// receiver, of which a code uses only as much as it needs.
class Encoding {
  public:
    /// Requires  an operator that says what nothing is, in a multiple of 4 bytes
    ///           (std::logic_error). Keep what it is given alive.
    Encoding(const Program& program, const MessageTable& table, const Places& places,
             const Operator& op, Workspace& workspace);

    /// Whether a message is of the operator's elements: others travel as they are.
    bool covers(int message) const { return elements_[static_cast<std::size_t>(message)] > 0; }
    /// Where the bytes of a message lie, on their way.
    Blocks room(int message);

    /// Writes what is sent into its room; the bytes to be sent: all, where it is no code.
    Bytes encode(int message);

    /// What came: the code, until the message comes again, or null where it is no code.
    /// Throws kernel::InvalidCode.
    const kernel::SparseCode* read(int message, std::span<const std::byte> came);
    /// Writes what was read to where the message belongs.
    void unpack(int message, std::span<const std::byte> came);

  private:
    void make_rooms();
    void list_pieces(int message);

    const Program& program_;
    const MessageTable& table_;
    const Places& places_;
    const std::vector<std::byte> nothing_; // an element
    std::vector<Elements> elements_;       // by message; 0 where it is not covered
    std::vector<Bytes> offsets_;           // by message, of its room
    Workspace& workspace_;
    std::vector<std::optional<kernel::SparseCode>> codes_; // by message
    std::vector<kernel::SparseEncoder::Piece> pieces_;
    kernel::SparseEncoder encoder_;
};

} // namespace sextant
