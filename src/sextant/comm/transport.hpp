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

/// Strided bytes in memory: `count` runs of `length` bytes, `stride` apart, numbered run by run.
struct Blocks {
    std::byte* base = nullptr;
    Bytes length = 0, stride = 0;
    Elements count = 1;

    Bytes bytes() const { return length * count; }
    bool contiguous() const { return count <= 1 || stride == length; }
    /// The address of byte `i`.
    std::byte* at(Bytes i) const {
        return contiguous() ? base + i : base + i / length * stride + i % length;
    }
    /// The number of contiguous bytes from byte `i` on, itself included.
    Bytes run_left(Bytes i) const { return contiguous() ? bytes() - i : length - i % length; }
};

/// Copies bytes to equally many bytes; the two sides may be divided differently.
void copy(std::span<const Blocks> to, std::span<const Blocks> from);

/// A part of `whole` that begins at byte `first`, with runs of the length and number of those of
/// `shape`, whose stride counts as if `whole` were contiguous. Has a null base if the part is not a
/// Blocks.
Blocks within(const Blocks& whole, Bytes first, const Blocks& shape);

/// The address of bytes [first, first + count) of several blocks; null unless they are contiguous.
const std::byte* in_one_piece(std::span<const Blocks> blocks, Bytes first, Bytes count);

/// One message that is exchanged repeatedly, from the same memory unless moved.
struct Message {
    bool sends = false;
    int peer = 0;
    int tag = 0;        ///< same on both sides; unique per pair and run
    bool lends = false; ///< send: may be read in place; receive: may stay in place
    bool free = false;  ///< receive: its memory is unused until the message comes
    std::vector<Blocks> blocks = {};

    Bytes bytes() const {
        Bytes sum = 0;
        for (const Blocks& b : blocks)
            sum += b.bytes();
        return sum;
    }
};

/// A completed message.
struct Completion {
    int message = 0;
    Bytes bytes = 0; ///< 0: the peer failed (real messages are never empty)
    /// Zero-copy receive: the sender's own bytes, which may be read until they are given back.
    std::span<const Blocks> lent;
};

/// The receiver's destination for a send, which the sender may write directly.
struct ReceiveBuffer {
    Blocks at = {};        ///< null base: none, or not announced
    bool open = false;     ///< may still be announced in this run
    bool promised = false; ///< the receiver announces it, or its absence, as soon as it runs
};

/// The messages of one program on one rank: prepared once, exchanged repeatedly. Nothing here
/// blocks, except `rest` for a moment. Messages are identified by their index.
class Exchange {
  public:
    virtual ~Exchange() = default;

    /// True if a message may be zero-copy; such a send completes when the data is given back.
    virtual bool lends(int message) const = 0;
    /// Moves a message to other memory of the same shape; not during a run.
    virtual void place(int message, const std::vector<Blocks>& blocks) = 0;
    /// Gives a message another peer and tag; not during a run. Throws InvalidTask if there is no
    /// such tag.
    virtual void address(int message, int peer, int tag) = 0;

    /// Begins and ends a run: each message is started once in between, and completes once.
    virtual void begin() = 0;
    virtual void end() = 0;
    /// Ends a run that cannot continue because of an error; the group must not be used afterwards.
    /// After this call no other rank reads or writes this rank's memory, except for messages that
    /// MPI has in transit, because MPI cannot cancel a send.
    virtual void abandon() = 0;
    /// The same if every rank in the run ends it by itself: waits for all.
    virtual void leave() = 0;
    virtual void start(int message) = 0;
    /// Called instead of a contiguous send: sends only its first `bytes` bytes, at least one.
    virtual void start_short(int message, Bytes bytes) = 0;
    /// Called instead of a send: notifies the peer that this rank failed.
    virtual void start_empty(int message) = 0;
    /// The receiver's destination for a send, if announced in this run. A rank that has written the
    /// data there starts the send by `start_delivered`; any other start abandons the destination.
    virtual ReceiveBuffer room(int message) const = 0;
    virtual void start_delivered(int message) = 0;
    /// Lists messages that completed since the last call; returns their number. Throws
    /// CommunicationFailed, PeerFailed.
    virtual int poll(std::span<Completion> completions) = 0;
    /// Gives back the data of a completed zero-copy receive, if it holds any.
    virtual void give_back(int message) = 0;
    /// Copies zero-copy data into the receive's own memory and gives it back.
    virtual void copy_loan(int message) = 0;
    /// Called if there is nothing to do: lets other threads and processes run, and returns soon.
    /// `idle` counts the calls since something last happened.
    virtual void rest(int idle) = 0;
};

/// One rank's end of a group of ranks. Implemented for threads of one process and for MPI.
class Transport {
  public:
    virtual ~Transport() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// True if all ranks are in one address space.
    virtual bool shares_memory() const = 0;

    virtual std::unique_ptr<Exchange> open(std::vector<Message> messages) = 0;
    /// True if ranks of a node read each other's memory.
    virtual bool shares_nodes() const { return shares_memory(); }
    /// The index of this rank's node among those that its host counts as.
    virtual int node_of_host() const { return 0; }
    /// The reason why some memory is not shared; empty if all is.
    virtual std::string shortage() const { return ""; }
    /// Zeroed memory of the kind that is cheapest for messages.
    virtual Memory memory(Bytes size) { return Memory(size); }

    /// Memory shared by the ranks of a host, for systems where processes cannot open each other's
    /// memory: by rank, of at most this many bytes, empty for ranks of other hosts. An empty vector
    /// if the transport has no such memory. Collective; throws CommunicationFailed.
    virtual std::vector<Segment> shared_segments(Bytes) { return {}; }

    /// Collective, as are the following.
    virtual void barrier() = 0;
    virtual void all_gather(std::span<const std::byte> own, std::span<std::byte> all) = 0;
    virtual std::shared_ptr<Transport> split(int color, int key) = 0;
    /// The same for messages of a few bytes: without memory shared within nodes.
    virtual std::shared_ptr<Transport> split_for_notices(int color, int key) {
        return split(color, key);
    }
};

} // namespace sextant
