// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/blocks.hpp"
#include "sextant/core/memory.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sextant {

/// What ranks that see each other's memory tell each other of a message.
struct Note {
    enum class Kind : std::uint8_t {
        offer,     ///< "it lies here": in `pieces` blocks, listed at `list`
        announced, ///< "it comes to you another way"
        delivered, ///< "it lies in your room already"
        room,      ///< "write it here", in one block, as listed
        no_room,   ///< "keep it where it is"
        returned,  ///< "it has been read"
    };
    Kind kind = Kind::offer;
    bool lends = false; ///< an offer may be read in place until returned
    int source = 0;     ///< whose note it is
    int tag = 0;
    int message = 0; ///< the source's number of it; of what is returned the receiver's of the note
    std::uint32_t pieces = 0;
    std::uint32_t run = 0;  ///< counted by those runs in which the two exchange anything
    Bytes bytes = 0;        ///< of an offer: 0 means that its sender failed
    std::uint64_t list = 0; ///< where the source keeps the list, counted from its base
};

/// One rank's place among ranks that see each other's memory: threads of a process, or processes
/// with a shared segment each. Where a rank's memory lies is counted from its base, since peers may
/// see it at other addresses than the rank itself.
class Neighbourhood {
  public:
    virtual ~Neighbourhood() = default;

    /// Ranks are those of the communicator.
    virtual int own_rank() const = 0;
    virtual bool has(int rank) const = 0;
    /// What positions in a neighbour's memory are added to, here.
    virtual std::uintptr_t base(int rank) const = 0;
    /// Whether neighbours see these bytes of this rank.
    virtual bool shows(const std::byte* data, Bytes size) const = 0;
    /// Memory that neighbours see, if there is any left; else other.
    virtual Memory memory(Bytes size) = 0;

    /// How many notes may be waiting for this rank, so that runs allocate nothing. One run at a
    /// time is under way: the most of any counts.
    virtual void make_room(std::size_t notes) = 0;
    virtual void post(int to, const Note& note) = 0;
    /// Takes what has been posted to this rank, in an order in which causes come before effects.
    /// Throws    PeerFailed where a neighbour is gone.
    virtual const std::vector<Note>& take() = 0;
    /// Called when there is nothing to do; `idle` counts the calls.
    virtual void rest(int idle) = 0;
    /// Whether a neighbour will never post again, since its part of the program is over.
    virtual bool is_gone(int) const { return false; }

    virtual void enter_run() = 0;
    virtual void leave_run() = 0;
    /// Ends a run of all neighbours by PeerFailed; returns when none of them is in one.
    virtual void abandon_run() = 0;
    /// The same, for a run that all neighbours who are in it end by themselves.
    virtual void leave_with_all() = 0;

    std::vector<Note> early;         ///< notes for a run that has not begun
    std::vector<std::uint32_t> runs; ///< by rank: those so far in which the two exchanged anything
};

} // namespace sextant
