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

/// The messages of a program, numbered in step order as in its Exchange.
class MessageTable {
  public:
    MessageTable(const Program& program, const Dependences& dependences, const Loans& loans,
                 Bytes element_size);

    int size() const { return static_cast<int>(steps_.size()); }
    int message_of(int step) const { return of_step_[static_cast<std::size_t>(step)]; }
    int step_of(int message) const { return steps_[static_cast<std::size_t>(message)]; }
    Bytes bytes(int message) const { return bytes_[static_cast<std::size_t>(message)]; }

    /// Describes all messages for an Exchange, with their current addresses.
    std::vector<Message> messages(const BufferAddresses& places) const;
    /// Lists the blocks of one message, replacing the contents of `to`.
    void list_blocks(int message, const BufferAddresses& places, std::vector<Blocks>& to) const;

  private:
    const Program& program_;
    const Dependences& dependences_;
    const Loans& loans_;
    std::vector<int> of_step_; // message of each step; -1 for folds and copies
    std::vector<int> steps_;
    std::vector<Bytes> bytes_;
};

/// Compresses and decompresses the messages of a program (kernel/fold/sparse_code.hpp). Each
/// message has a buffer for its uncompressed elements at the sender and at the receiver; compressed
/// data uses only a part of this buffer.
class Encoding {
  public:
    /// Requires  an operator that defines the empty element; an element size that is a multiple of
    ///           4 bytes (std::logic_error).
    /// Keeps references to its arguments.
    Encoding(const Program& program, const MessageTable& table, const BufferAddresses& places,
             const Operator& op, Workspace& workspace);

    /// True if a message consists of the operator's elements; other messages are not compressed.
    bool covers(int message) const { return elements_[static_cast<std::size_t>(message)] > 0; }
    /// The buffer of a message in transit.
    Blocks room(int message);

    /// Writes a message into its buffer. Returns the bytes to send: the full size if it is not
    /// compressed.
    Bytes encode(int message);

    /// Reads a received message. Returns its compressed form, valid until the message is received
    /// again, or null if it is not compressed. Throws kernel::InvalidCode.
    const kernel::SparseCode* read(int message, std::span<const std::byte> came);
    /// Copies a message that has been read to its regions.
    void unpack(int message, std::span<const std::byte> came);

  private:
    void make_rooms();
    void list_pieces(int message);

    const Program& program_;
    const MessageTable& table_;
    const BufferAddresses& places_;
    const std::vector<std::byte> nothing_; // an empty element
    std::vector<Elements> elements_; // number of elements of each message; 0 if never compressed
    std::vector<Bytes> offsets_;     // position of each message's buffer
    Workspace& workspace_;
    std::vector<std::optional<kernel::SparseCode>> codes_; // compressed form of each message
    std::vector<kernel::SparseEncoder::Piece> pieces_;
    kernel::SparseEncoder encoder_;
};

} // namespace sextant
