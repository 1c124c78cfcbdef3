// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/comm/node_sharing.hpp"
#include "sextant/comm/shared_memory.hpp"
#include "sextant/comm/shared_memory_exchange.hpp"
#include "sextant/comm/waiting.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sextant {

/// A queue of notes to one rank, in memory shared by processes: many producers, one consumer. Notes
/// are taken in the order in which they were posted, across all producers. All zero bytes is a
/// valid initial state; each process may map the queue at a different address.
class SharedInbox {
  public:
    /// Returns false, posting nothing, if the queue is full.
    bool post(const Note& note);
    /// Returns false if the queue is empty.
    bool take(Note& note);
    /// Wakes the consumer if it sleeps.
    void wake();
    /// Sleeps until a note is posted or another process calls `wake`, but only for a short time,
    /// because the expected producer may have died.
    void sleep();

  private:
    static constexpr std::uint64_t slots = 2048;
    /// In lap n around the ring, `turn` is 2n while the slot is free and 2n + 1 once it is filled.
    struct alignas(64) Slot {
        std::atomic<std::uint64_t> turn;
        Note note;
    };
    static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

    Slot& slot(std::uint64_t position) { return slots_[position % slots]; }
    bool empty();

    alignas(64) std::atomic<std::uint64_t> posted_; // positions claimed by producers
    alignas(64) std::uint64_t taken_;               // used by the consumer only
    alignas(64) std::atomic<std::uint32_t> asleep_;
    std::array<Slot, slots> slots_;
};

/// One rank's view of the processes of its node. Each process has a segment that all of them have
/// mapped. Its header, which the other processes write to, holds an inbox and the cancellation of a
/// run.
class NodeNeighbourhood : public Neighbourhood {
  public:
    /// Sets up shared memory. Returns null on every rank, with the reason in `why_not`, if it is
    /// unavailable on any rank. Collective.
    static std::unique_ptr<NodeNeighbourhood>
    meet(const Communicator& communicator, const NodeSharing& sharing, std::string& why_not);

    int own_rank() const override { return rank_; }
    bool has(int rank) const override { return base(rank) != 0; }
    std::uintptr_t base(int rank) const override { return bases_[static_cast<std::size_t>(rank)]; }
    bool shows(const std::byte* data, Bytes size) const override {
        return arena_->holds(data, size);
    }
    Memory memory(Bytes size) override;

    void make_room(std::size_t notes) override;
    void post(int to, const Note& note) override;
    const std::vector<Note>& take() override;
    void rest(int idle) override;
    void enter_run() override;
    void leave_run() override;
    void abandon_run() override;
    void leave_with_all() override;

    /// Throws PeerFailed if a process of this node has ended, or a run was cancelled.
    void check_peers();
    /// The index of this node on its host, which may count as several nodes
    /// (NodeSharing::ranks_per_node).
    int node() const { return node_; }
    /// The first failure to allocate shared memory after setup; empty if there was none.
    const std::string& shortage() const { return shortage_; }

  private:
    struct Head;
    struct Card;
    struct Peer {
        int rank = 0;
        Segment segment;
    };
    struct Held {
        int to;
        Note note;
    };

    NodeNeighbourhood(int rank, int ranks) : rank_(rank), bases_(static_cast<std::size_t>(ranks)) {
        runs.resize(bases_.size());
    }
    /// Returns a peer's segment, given its rank and card.
    using SegmentOf = std::function<Segment(int, const Card&)>;

    static std::unique_ptr<NodeNeighbourhood>
    meet_with(const Communicator& communicator, int ranks_per_node,
              const std::function<Segment()>& own, const SegmentOf& of_peer, std::string& why_not);
    static std::unique_ptr<NodeNeighbourhood> meet_by_windows(const Communicator& communicator,
                                                              Bytes size, int ranks_per_node,
                                                              std::string& why_not);
    Card keep(Segment own);
    void join(const std::vector<Card>& cards, int ranks_per_node, const SegmentOf& segment_of);
    void add_peer(int rank, const Card& card, Segment segment);
    Head& head(int rank) const { return *reinterpret_cast<Head*>(base(rank)); }
    Head& own() const { return head(rank_); }
    void check_cancelled() const;
    void send_held();
    void cancel(int failed);

    const int rank_;
    bool crowded_ = false;
    Yielding yielding_;
    int node_ = 0;
    std::shared_ptr<Arena> arena_;
    std::vector<std::uintptr_t> bases_; // base address of each rank; 0 if not a neighbour
    std::vector<Peer> peers_;
    ProcessWatch processes_; // watches the peers' processes
    std::size_t room_ = 0;   // capacity for notes
    std::vector<Note> taken_;
    std::vector<Held> held_; // notes for inboxes that were full
    std::string shortage_;
};

} // namespace sextant
