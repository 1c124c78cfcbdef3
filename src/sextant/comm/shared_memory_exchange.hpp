// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/transport.hpp"
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

/// Messages between ranks that see each other's memory: the sender says where its bytes lie, the
/// receiver copies or reads them there and says when it is done. Or the receiver says beforehand
/// where it wants them, and the sender makes them there.
class LoanExchange : public Exchange {
  public:
    /// Messages from and to ranks that are no neighbours are only numbered.
    LoanExchange(Neighbourhood& neighbours, std::vector<Message> messages);

    bool lends(int m) const override { return neighbours_.has(at(m).peer); }
    void place(int message, const std::vector<Blocks>& blocks) override;
    void address(int message, int peer, int tag) override;

    void begin() override;
    void end() override { neighbours_.leave_run(); }
    void abandon() override { neighbours_.abandon_run(); }
    void leave() override { neighbours_.leave_with_all(); }
    void start(int m) override;
    void start_short(int m, Bytes bytes) override { offer(m, Note::Kind::offer, bytes); }
    void start_empty(int m) override { offer(m, Note::Kind::offer, 0); }
    Room room(int m) const override;
    void start_delivered(int m) override;
    int poll(std::span<Completion> completions) override;
    void give_back(int m) override;
    void copy_loan(int m) override;
    void rest(int idle) override;

    /// Instead of a send: tells that its bytes come another way. There the receive completes with
    /// `announced` bytes.
    void announce(int m) { offer(m, Note::Kind::announced, at(m).bytes()); }
    static constexpr Bytes announced = -1;

    int size() const { return static_cast<int>(messages_.size()); }
    const Message& at(int message) const { return messages_[static_cast<std::size_t>(message)]; }
    /// Whether neighbours see what an offer of a message speaks of, and what it says at all.
    bool shows(int message) const;
    bool lists_shown() const { return neighbours_.shows(lists_.data(), lists_.size()); }

  private:
    /// A block as others are told of it.
    struct Piece {
        std::uint64_t at; ///< counted from the base of who tells
        Bytes length, stride;
        Elements count;
    };
    struct Receive {
        bool started = false, offered = false;
        bool held = false; ///< the loan, until it is given back
        Note offer;
        std::vector<Blocks> lent; ///< where the offer lies, as seen from here
    };
    struct Send {
        bool started = false, told = false; ///< where the receiver wants it
        bool ended = false;
        Blocks room; ///< there; without a base nowhere
    };
    /// A message by what its peer calls it.
    struct Known {
        int peer, tag, message;
        auto operator<=>(const Known&) const = default;
    };

    /// Waiting at once: of each message an offer or a room and its return, of this run and, where a
    /// peer is ahead, of the next.
    std::size_t most_notes() const { return 4 * messages_.size(); }
    int awaited_that_is_gone() const;
    void number_all();
    static const Known* find(const std::vector<Known>& all, const Note& note);
    void make_lists();
    void list(int m);
    void show_rooms();
    bool has_room(int m) const;
    void offer(int m, Note::Kind kind, Bytes bytes);
    Note note_of(int m, Note::Kind kind) const;
    void take(const Note& note);
    void take_offer(const Note& note);
    void take_room(const Note& note);
    void match(int m);
    void return_loan(int m);
    void locate(const Note& note, std::vector<Blocks>& blocks) const;
    Blocks block(const Note& note, std::uint32_t i) const;

    Neighbourhood& neighbours_;
    std::vector<Message> messages_;
    std::vector<Receive> receives_;        // by message
    std::vector<Send> sends_;              // by message
    std::vector<Known> known_receives_;    // in order
    std::vector<Known> known_sends_;       // in order
    std::vector<int> peers_;               // neighbours with any message
    bool numbered_ = false;                // since a message was last addressed
    std::vector<std::size_t> first_piece_; // by message
    Memory lists_;                         // pieces of all messages
    std::vector<Note> waiting_;            // early notes being looked at again
    std::vector<Completion> finished_;
    bool suspects_ = false; // that a peer is gone
};

} // namespace sextant
