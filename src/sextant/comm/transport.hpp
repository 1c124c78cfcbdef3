// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/shared_memory.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/units.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sextant {

/// Bytes in memory: `count` runs of `length`, `stride` apart, numbered run by run.
struct Blocks {
    std::byte* base = nullptr;
    Bytes length = 0, stride = 0;
    Elements count = 1;

    Bytes bytes() const { return length * count; }
    bool contiguous() const { return count <= 1 || stride == length; }
    /// Where byte `i` lies.
    std::byte* at(Bytes i) const {
        return contiguous() ? base + i : base + i / length * stride + i % length;
    }
    /// How many bytes lie in one piece from byte `i` on, itself included.
    Bytes run_left(Bytes i) const { return contiguous() ? bytes() - i : length - i % length; }
};

/// Copies bytes to as many bytes; the two sides may be cut differently.
void copy(std::span<const Blocks> to, std::span<const Blocks> from);

/// Bytes that begin `first` bytes into others, in runs shaped like those of `shape`, counted as if
/// the others lay in one piece. Without a base unless that is a block.
Blocks within(const Blocks& whole, Bytes first, const Blocks& shape);

/// Where bytes [first, first + count) of several blocks lie; null unless they lie in one piece.
const std::byte* in_one_piece(std::span<const Blocks> blocks, Bytes first, Bytes count);

/// One message that will be exchanged again and again, at the same place unless moved.
struct Message {
    bool sends = false;
    int peer = 0;
    int tag = 0;        ///< both sides have the same; a pair uses a tag once a run
    bool lends = false; ///< send: may be read where it lies. receive: may be left where it lies
    bool free = false;  ///< receive: nothing else uses its memory until it has come
    std::vector<Blocks> blocks = {};

    Bytes bytes() const {
        Bytes sum = 0;
        for (const Blocks& b : blocks)
            sum += b.bytes();
        return sum;
    }
};

/// A message that has finished.
struct Completion {
    int message = 0;
    Bytes bytes = 0; ///< 0 means that the peer failed: real messages are never empty
    /// Of a receive that was not copied: the sender's own bytes, to be read until given back.
    std::span<const Blocks> lent;
};

/// Where the receiver of a send wants its bytes.
struct Room {
    Blocks at = {};        ///< without a base: nowhere, or nobody has said
    bool open = false;     ///< it may still be said in this run
    bool promised = false; ///< as soon as the receiver runs it says that, or that there is none
};

/// The messages of one program on one rank: prepared once, run often. Nothing here blocks, except
/// `rest` for a moment. Messages are known by their index.
class Exchange {
  public:
    virtual ~Exchange() = default;

    /// Whether a message may be lent; then, if it is, its send completes when it has been given
    /// back.
    virtual bool lends(int message) const = 0;
    /// Moves a message to other memory of the same shape; not during a run.
    virtual void place(int message, const std::vector<Blocks>& blocks) = 0;
    /// Gives a message another peer and tag; not during a run. Throws InvalidTask where there is no
    /// such tag.
    virtual void address(int message, int peer, int tag) = 0;

    /// A run: each message is started once between begin and end, and completes once.
    virtual void begin() = 0;
    virtual void end() = 0;
    /// Ends a run that cannot go on because of an error; the group is of no further use. Afterwards
    /// no other rank writes this one's memory on its account, and none reads it, but for messages
    /// that MPI has under way: MPI cannot cancel a send.
    virtual void abandon() = 0;
    /// The same where every rank that is in the run ends it alike, by itself: waits until they
    /// have.
    virtual void leave() = 0;
    virtual void start(int message) = 0;
    /// Instead of a send that lies in one piece: sends its first `bytes`, at least one.
    virtual void start_short(int message, Bytes bytes) = 0;
    /// Instead of a send: tells the peer that this rank failed.
    virtual void start_empty(int message) = 0;
    /// Where the receiver wants the bytes of a send, if it has said so in this run. Who puts them
    /// there starts the send by `start_delivered`; any other start forgoes it.
    virtual Room room(int message) const = 0;
    virtual void start_delivered(int message) = 0;
    /// What completed meanwhile; its number. Throws CommunicationFailed, PeerFailed.
    virtual int poll(std::span<Completion> completions) = 0;
    /// Ends the loan that a completed receive holds, if it holds one.
    virtual void give_back(int message) = 0;
    /// Copies a loan into the receive's own memory and gives it back.
    virtual void copy_loan(int message) = 0;
    /// Called when there is nothing to do: lets others run, returns soon. `idle` counts the calls
    /// since something last happened.
    virtual void rest(int idle) = 0;
};

/// One rank's end of a group of ranks. Implemented for threads of one process and for MPI.
class Transport {
  public:
    virtual ~Transport() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// Whether all ranks live in one address space.
    virtual bool shares_memory() const = 0;

    virtual std::unique_ptr<Exchange> open(std::vector<Message> messages) = 0;
    /// Whether ranks of a node read each other's memory.
    virtual bool shares_nodes() const { return shares_memory(); }
    /// Which of the nodes that its host counts as this rank is on.
    virtual int node_of_host() const { return 0; }
    /// Why some memory is not what `memory` promises; empty where all is.
    virtual std::string shortage() const { return ""; }
    /// Zeroed memory, of a kind that messages from it cost least.
    virtual Memory memory(Bytes size) { return Memory(size); }

    /// Memory that ranks of a host share, for where processes cannot open each other's: by rank,
    /// of at most so many bytes, empty of other hosts' ranks. None at all where a transport has
    /// no such memory. Collective; throws CommunicationFailed.
    virtual std::vector<Segment> shared_segments(Bytes) { return {}; }

    /// Collective.
    virtual void barrier() = 0;
    virtual void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
    virtual std::shared_ptr<Transport> split(int color, int key) = 0;
    /// The same for messages of a few bytes: without memory that a node shares.
    virtual std::shared_ptr<Transport> split_for_notices(int color, int key) {
        return split(color, key);
    }
};

} // namespace sextant
