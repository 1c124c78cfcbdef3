// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/shared_memory.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/operator.hpp"
#include "sextant/core/units.hpp"
#include "sextant/schedule/collective_kind.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sextant {

/// Strided bytes in memory: `count` runs of `length` bytes, `stride` apart. Bytes are numbered run
/// by run, without gaps.
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
    /// The number of contiguous bytes from byte `i` on, that byte included.
    Bytes run_left(Bytes i) const { return contiguous() ? bytes() - i : length - i % length; }
};

/// Copies all bytes of `from` to `to`, which must have the same total size but may be divided
/// differently into blocks and runs.
void copy(std::span<const Blocks> to, std::span<const Blocks> from);

/// Returns the part of `whole` that begins at byte `first` and has the runs of `shape`; the stride
/// of `shape` is counted as if `whole` were contiguous. The base is null if the part cannot be
/// described by one Blocks.
Blocks within(const Blocks& whole, Bytes first, const Blocks& shape);

/// Returns the address of bytes [first, first + count) of several blocks; null unless these bytes
/// are contiguous.
const std::byte* in_one_piece(std::span<const Blocks> blocks, Bytes first, Bytes count);

/// A message that is exchanged in every run, always in the same memory unless Exchange::place moves
/// it.
struct Message {
    bool sends = false;
    int peer = 0;
    int tag = 0;        ///< same at sender and receiver; unique per pair and run
    bool lends = false; ///< the receiver may read the data in the sender's memory
    bool free = false;  ///< for a receive: its memory is unused until the message arrives
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
    Bytes bytes = 0; ///< 0 if the peer failed (real messages are never empty)
    /// For a zero-copy receive: the sender's buffer, which may be read until `give_back` is called.
    std::span<const Blocks> lent;
};

/// The receiver's destination for a send, to which the sender may write directly.
struct ReceiveBuffer {
    Blocks at = {};    ///< base is null if no buffer was announced
    bool open = false; ///< a buffer may still be announced in this run
    bool promised =
        false; ///< the receiver announces a buffer or declines as soon as it begins the run
};

/// The messages of one program on one rank: prepared once, exchanged repeatedly. During a run no
/// call blocks, except `rest` for a moment. Messages are identified by their index.
class Exchange {
  public:
    virtual ~Exchange() = default;

    /// True if a message may be zero-copy; such a send completes when the receiver has returned the
    /// buffer.
    virtual bool lends(int message) const = 0;
    /// Moves a message to other memory of the same shape; not during a run.
    virtual void place(int message, const std::vector<Blocks>& blocks) = 0;
    /// Changes the peer and tag of a message; not during a run. Throws InvalidTask if the tag is
    /// beyond the limit of the transport.
    virtual void address(int message, int peer, int tag) = 0;

    /// Begins a run. Before the run ends, each message is started once and completes once.
    virtual void begin() = 0;
    virtual void end() = 0;
    /// Ends a run that cannot continue because of an error; the group must not be used afterwards.
    /// After this call no other rank reads or writes this rank's memory, except for messages that
    /// MPI has in transit, because MPI cannot cancel a send.
    virtual void abandon() = 0;
    /// Like `abandon`, but for a run that every rank leaves on its own; waits for all ranks.
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
    /// Returns the buffer of a completed zero-copy receive to the sender, if it has not been
    /// returned.
    virtual void give_back(int message) = 0;
    /// Copies zero-copy data into the receive's own memory and returns the buffer.
    virtual void copy_loan(int message) = 0;
    /// Called if there is nothing to do: lets other threads and processes run, and returns soon.
    /// `idle` counts the calls since something last happened.
    virtual void rest(int idle) = 0;
};

/// A collective operation for MPI itself, instead of a schedule.
struct LibraryTask {
    CollectiveKind kind = CollectiveKind::broadcast;
    int root = 0;
    bool equal = true; ///< all counts of all ranks are equal
    /// The element count; if ranks may have different ones, that of each rank; all-to-all: those
    /// that this rank sends to each rank, and (`from`) receives from each rank.
    std::vector<Elements> blocks = {}, from = {};
    Operator op = {}; ///< must not throw; if elements are only moved, states only their size
};

/// A collective operation of MPI itself, prepared once.
class LibraryOperation {
  public:
    virtual ~LibraryOperation() = default;
    /// Runs the operation on buffers as those of MPI. Throws CommunicationFailed, PeerFailed; MPI
    /// may then still use the buffers and this object. Collective.
    virtual void run(const std::byte* send, std::byte* receive) = 0;
};

/// One rank's connection to a group of ranks. Implemented for threads of one process and for MPI.
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
    /// The index of this rank's node on its host, which may count as several nodes.
    virtual int node_of_host() const { return 0; }
    /// The reason why some memory is not shared; empty if all of it is.
    virtual std::string shortage() const { return ""; }
    /// Allocates zeroed memory of the kind that is cheapest for messages.
    virtual Memory memory(Bytes size) { return Memory(size); }

    /// Memory shared by the ranks of a host, for systems where processes cannot open each other's
    /// memory. Returns one segment per rank, of at most the given size, empty for ranks of other
    /// hosts; an empty vector if the transport has no such memory. Collective; throws
    /// CommunicationFailed.
    virtual std::vector<Segment> shared_segments(Bytes) { return {}; }

    /// Prepares an operation of MPI itself; null if the ranks are not MPI processes, or if the
    /// operation exceeds MPI's limits on this rank.
    virtual std::unique_ptr<LibraryOperation> library_operation(const LibraryTask&) { return {}; }

    // The following functions are collective.
    virtual void barrier() = 0;
    virtual void all_gather(std::span<const std::byte> own, std::span<std::byte> all) = 0;
    virtual std::shared_ptr<Transport> split(int color, int key) = 0;
    /// Like `split`, but for messages of a few bytes: memory is not shared within nodes.
    virtual std::shared_ptr<Transport> split_for_notices(int color, int key) {
        return split(color, key);
    }
};

} // namespace sextant
