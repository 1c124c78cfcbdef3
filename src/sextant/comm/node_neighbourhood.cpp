// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/node_neighbourhood.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/waiting.hpp"
#include "sextant/core/error.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <new>
#include <optional>
#include <random>

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

namespace sextant {

bool SharedInbox::post(const Note& note) {
    std::uint64_t position = posted_.load(std::memory_order_relaxed);
    while (true) {
        const std::uint64_t free = position / slots * 2;
        const std::uint64_t turn = slot(position).turn.load(std::memory_order_acquire);
        if (turn == free) {
            if (posted_.compare_exchange_weak(position, position + 1, std::memory_order_relaxed))
                break;
        } else if (turn < free) {
            return false; // full: the slot still holds a note of the previous lap
        } else {
            position = posted_.load(std::memory_order_relaxed);
        }
    }
    slot(position).note = note;
    slot(position).turn.store(position / slots * 2 + 1);
    wake();
    return true;
}

bool SharedInbox::empty() {
    const std::uint64_t turn = slot(taken_).turn.load();
    return turn != taken_ / slots * 2 + 1;
}

bool SharedInbox::take(Note& note) {
    if (empty())
        return false;
    note = slot(taken_).note;
    slot(taken_).turn.store((taken_ / slots + 1) * 2, std::memory_order_release);
    ++taken_;
    return true;
}

/// The producer stores a note and then checks whether the consumer sleeps; the consumer announces
/// its sleep and then checks for notes. All four operations are sequentially consistent, so at
/// least one side sees the other's store.
void SharedInbox::wake() {
    if (asleep_.load() == 0)
        return;
    asleep_.store(0);
    wake_one(asleep_);
}

void SharedInbox::sleep() {
    asleep_.store(1);
    if (empty())
        sleep_while(asleep_, 1);
    asleep_.store(0);
}

/// The header of a segment.
struct NodeNeighbourhood::Head {
    std::uint64_t token = 0;     ///< random number chosen by its owner
    std::atomic<int> running{0}; ///< 1 while the owner is in a run
    std::atomic<int> failed{0};  ///< 1 + the rank whose failure cancelled the run; 0: none
    LastCore core{-1};
    SharedInbox inbox;
};

/// The data that ranks exchange when they set up shared memory.
struct NodeNeighbourhood::Card {
    Seat seat;
    int process = 0, descriptor = -1;
    std::uint64_t token = 0;
    Bytes size = 0;
};

namespace {

Bytes memory_of_machine() {
    return static_cast<Bytes>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

/// The minimum size of a segment without its header: enough for lists of messages, and for small
/// frames in tests.
constexpr Bytes smallest = Bytes{64} << 10;

std::uint64_t random_token() {
    std::random_device random;
    return static_cast<std::uint64_t>(random()) << 32 | random();
}

} // namespace

std::unique_ptr<NodeNeighbourhood> NodeNeighbourhood::meet(const Communicator& communicator,
                                                           const NodeSharing& sharing,
                                                           std::string& why_not) {
    const Bytes size = static_cast<Bytes>(sizeof(Head)) +
                       std::max(smallest, sharing.most > 0 ? sharing.most : memory_of_machine());
    const auto open = [](int, const Card& card) {
        return Segment::open(card.process, card.descriptor, card.size);
    };
    auto made = meet_with(
        communicator, sharing.ranks_per_node, [&] { return Segment::create(size); }, open, why_not);
    if (made)
        return made;
    std::string why_no_windows;
    made = meet_by_windows(communicator, size, sharing.ranks_per_node, why_no_windows);
    if (made)
        why_not.clear();
    else if (!why_no_windows.empty())
        why_not += "; " + why_no_windows;
    return made;
}

/// Sets up memory shared through MPI windows: slower to set up, and never with huge pages.
std::unique_ptr<NodeNeighbourhood>
NodeNeighbourhood::meet_by_windows(const Communicator& communicator, Bytes size, int ranks_per_node,
                                   std::string& why_not) {
    std::vector<Segment> segments;
    why_not = first_failure(communicator, [&] { segments = communicator.shared_segments(size); });
    if (!why_not.empty() || segments.empty())
        return nullptr;
    const auto own = [&] {
        return std::move(segments[static_cast<std::size_t>(communicator.rank())]);
    };
    const auto of_peer = [&](int rank, const Card&) {
        Segment& segment = segments[static_cast<std::size_t>(rank)];
        if (segment.size() == 0) {
            throw CommunicationFailed(fmt::format(
                "rank {} is on this host, but MPI does not share memory with it", rank));
        }
        return std::move(segment);
    };
    return meet_with(communicator, ranks_per_node, own, of_peer, why_not);
}

std::unique_ptr<NodeNeighbourhood> NodeNeighbourhood::meet_with(const Communicator& communicator,
                                                                int ranks_per_node,
                                                                const std::function<Segment()>& own,
                                                                const SegmentOf& of_peer,
                                                                std::string& why_not) {
    std::unique_ptr<NodeNeighbourhood> made(
        new NodeNeighbourhood(communicator.rank(), communicator.size()));
    Card local;
    why_not = first_failure(communicator, [&] { local = made->keep(own()); });
    if (!why_not.empty())
        return nullptr;
    const std::vector<Card> cards = communicator.all_gather(local);
    // If no rank failed here, all ranks have mapped all segments, so descriptors can be closed.
    why_not = first_failure(communicator, [&] { made->join(cards, ranks_per_node, of_peer); });
    if (!why_not.empty())
        return nullptr;
    made->arena_->close_descriptor();
    for (Peer& peer : made->peers_)
        peer.segment.close_descriptor();
    return made;
}

NodeNeighbourhood::Card NodeNeighbourhood::keep(Segment own) {
    const auto least = static_cast<Bytes>(sizeof(Head));
    if (own.size() < least + smallest || !own.has_memory(0, least)) {
        throw CommunicationFailed(fmt::format(
            "cannot allocate the minimum of {} bytes of shared memory", least + smallest));
    }
    arena_ = std::make_shared<Arena>(std::move(own), least);
    const Segment& segment = arena_->segment();
    const Head* const head = new (segment.data()) Head{random_token(), 0, 0, {}};
    return {{host_identity(), Cores::available()},
            getpid(),
            segment.descriptor(),
            head->token,
            segment.size()};
}

void NodeNeighbourhood::join(const std::vector<Card>& cards, int ranks_per_node,
                             const SegmentOf& segment_of) {
    std::vector<Seat> seats;
    for (const Card& card : cards)
        seats.push_back(card.seat);
    const Card& local = cards[static_cast<std::size_t>(rank_)];
    crowded_ = is_crowded(local.seat.host, seats);
    int before = 0; // number of lower ranks on this host
    std::vector<int> node(cards.size(), -1);
    for (std::size_t rank = 0; rank < cards.size(); ++rank) {
        if (cards[rank].seat.host == local.seat.host)
            node[rank] = ranks_per_node > 0 ? before++ / ranks_per_node : 0;
    }
    node_ = node[static_cast<std::size_t>(rank_)];
    bases_[static_cast<std::size_t>(rank_)] =
        reinterpret_cast<std::uintptr_t>(arena_->segment().data());
    for (std::size_t rank = 0; rank < cards.size(); ++rank) {
        if (node[rank] == node_ && static_cast<int>(rank) != rank_)
            add_peer(static_cast<int>(rank), cards[rank],
                     segment_of(static_cast<int>(rank), cards[rank]));
    }
}

void NodeNeighbourhood::add_peer(int rank, const Card& card, Segment segment) {
    Peer peer{rank, std::move(segment)};
    bases_[static_cast<std::size_t>(rank)] = reinterpret_cast<std::uintptr_t>(peer.segment.data());
    // In another PID namespace, the process number may belong to a different process.
    if (head(rank).token != card.token) {
        throw CommunicationFailed(
            fmt::format("process {} of this PID namespace is not rank {}", card.process, rank));
    }
    peers_.push_back(std::move(peer));
    processes_.add(card.process);
}

Memory NodeNeighbourhood::memory(Bytes size) {
    if (std::optional<Memory> taken = arena_->take(size))
        return std::move(*taken);
    if (shortage_.empty()) {
        shortage_ = fmt::format("rank {} has {} bytes of shared memory, which is not enough for "
                                "{} more: data outside shared memory is sent in messages",
                                rank_, arena_->segment().size(), size);
    }
    return Memory(size);
}

void NodeNeighbourhood::make_room(std::size_t notes) {
    room_ = std::max(room_, notes);
    early.reserve(room_);
    taken_.reserve(room_);
    held_.reserve(room_);
}

void NodeNeighbourhood::post(int to, const Note& note) {
    const bool in_order = held_.empty();
    if (!in_order || !head(to).inbox.post(note))
        held_.push_back({to, note});
}

/// Posts held notes in order, until an inbox is full.
void NodeNeighbourhood::send_held() {
    std::size_t sent = 0;
    while (sent < held_.size() && head(held_[sent].to).inbox.post(held_[sent].note))
        ++sent;
    if (sent > 0)
        held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(sent));
}

const std::vector<Note>& NodeNeighbourhood::take() {
    check_cancelled();
    send_held();
    taken_.clear();
    Note note;
    while (own().inbox.take(note))
        taken_.push_back(note);
    return taken_;
}

void NodeNeighbourhood::rest(int idle) {
    constexpr int yields = 200;
    if (!crowded_ && idle < looks_before_sleep()) {
        if (idle == looks_before_separating)
            separate_ranks(own().core, [this](int core) {
                return std::any_of(peers_.begin(), peers_.end(), [&](const Peer& peer) {
                    return head(peer.rank).core.load(std::memory_order_relaxed) == core;
                });
            });
        return pause_briefly();
    }
    if (crowded_ && idle < yields && yielding_.yield())
        return;
    if (held_.empty())
        own().inbox.sleep();
    else
        sched_yield();
    check_peers();
}

void NodeNeighbourhood::enter_run() {
    own().running = 1;
    try {
        check_cancelled();
    } catch (...) {
        own().running = 0;
        throw;
    }
}

void NodeNeighbourhood::leave_run() {
    try {
        while (!held_.empty()) {
            sched_yield();
            send_held();
            check_peers();
            check_cancelled();
        }
    } catch (...) {
        own().running = 0;
        throw;
    }
    own().running = 0;
}

void NodeNeighbourhood::abandon_run() {
    cancel(rank_);
    leave_with_all();
}

void NodeNeighbourhood::leave_with_all() {
    own().running = 0;
    for (std::size_t i = 0; i < peers_.size(); ++i) {
        while (head(peers_[i].rank).running != 0 && !processes_.has_ended(i))
            sched_yield();
    }
}

void NodeNeighbourhood::cancel(int failed) {
    const auto tell = [&](Head& head) {
        int nobody = 0;
        head.failed.compare_exchange_strong(nobody, failed + 1);
        head.inbox.wake();
    };
    tell(own());
    for (const Peer& peer : peers_)
        tell(head(peer.rank));
}

void NodeNeighbourhood::check_cancelled() const {
    if (const int failed = own().failed)
        throw PeerFailed(failed - 1, fmt::format("rank {} failed", failed - 1));
}

void NodeNeighbourhood::check_peers() {
    const std::optional<std::size_t> ended = processes_.first_ended();
    if (!ended)
        return;
    const int rank = peers_[*ended].rank;
    cancel(rank);
    throw PeerFailed(rank, fmt::format("rank {}: its process has ended", rank));
}

} // namespace sextant
