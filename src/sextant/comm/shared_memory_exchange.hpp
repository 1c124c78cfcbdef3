// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/transport.hpp"
#include "sextant/core/memory.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sextant {

/// A notice about a message between ranks that share memory.
struct Note {
    enum class Kind : std::uint8_t {
        offer,     ///< the data is in `pieces` blocks, listed at `list`
        announced, ///< the data is sent over another transport
        delivered, ///< the data is already in the receiver's memory
        room,      ///< the sender may write the data here: one block, listed at `list`
        no_room,   ///< the sender must keep the data in its own memory
        returned,  ///< the data has been read
    };
    Kind kind = Kind::offer;
    bool lends = false; ///< in an offer: the data may be read in place until returned
    int source = 0;     ///< rank that posted the note
    int tag = 0;
    int message = 0; ///< the source's message number; in `returned`, that of the offer
    std::uint32_t pieces = 0;
    std::uint32_t run = 0;  ///< number of runs so far in which the two ranks exchange messages
    Bytes bytes = 0;        ///< size of the message; 0 in an offer if the sender failed
    std::uint64_t list = 0; ///< position of the list in the source's memory, relative to its base
};

/// One rank's view of the ranks that share memory: threads of a process, or processes with one
/// shared segment each. Positions in a rank's memory are relative to its base, because peers may
/// map it at other addresses.
class Neighbourhood {
  public:
    virtual ~Neighbourhood() = default;

    /// Ranks are numbered as in the communicator.
    virtual int own_rank() const = 0;
    virtual bool has(int rank) const = 0;
    /// The address in this process of the base of a neighbour's memory.
    virtual std::uintptr_t base(int rank) const = 0;
    /// True if neighbours can access these bytes of this rank.
    virtual bool shows(const std::byte* data, Bytes size) const = 0;
    /// Allocates memory that neighbours can access; if none is left, private memory.
    virtual Memory memory(Bytes size) = 0;

    /// Reserves space for `notes` notes to this rank, so that runs allocate nothing. Only one run
    /// is in progress at a time, so the largest number of any run suffices.
    virtual void make_room(std::size_t notes) = 0;
    virtual void post(int to, const Note& note) = 0;
    /// Takes the notes posted to this rank, in an order that respects causality.
    /// Throws    PeerFailed if a neighbour has failed.
    virtual const std::vector<Note>& take() = 0;
    /// Waits for a moment if there is nothing to do; `idle` counts consecutive calls.
    virtual void rest(int idle) = 0;
    /// True if a neighbour posts no more notes because its function has returned (run_threads).
    virtual bool is_gone(int) const { return false; }
    /// Throws PeerFailed if a rank has failed, even if that rank had completed the current call.
    virtual void check_failure() const {}

    virtual void enter_run() = 0;
    virtual void leave_run() = 0;
    /// Ends the run on all neighbours with PeerFailed; returns when none of them is in a run.
    virtual void abandon_run() = 0;
    /// Leaves a run that every neighbour leaves too; returns when all have left it.
    virtual void leave_with_all() = 0;

    std::vector<Note> early;         ///< notes for the next run
    std::vector<std::uint32_t> runs; ///< number of runs with messages to or from each rank
};

/// Messages between ranks that can access each other's memory. The sender announces the address of
/// its data; the receiver copies the data or reads it in place, and reports when it is done.
/// Alternatively the receiver first announces a destination, and the sender writes there.
class LoanExchange : public Exchange {
  public:
    /// Messages of ranks that are not neighbours are numbered but not transferred.
    LoanExchange(Neighbourhood& neighbours, std::vector<Message> messages);

    bool lends(int m) const override { return neighbours_.has(at(m).peer); }
    void place(int message, const std::vector<Blocks>& blocks) override;
    void address(int message, int peer, int tag) override;

    void begin() override;
    void end() override {
        runs_ = false;
        neighbours_.leave_run();
    }
    void abandon() override {
        runs_ = false;
        neighbours_.abandon_run();
    }
    /// Does nothing if the run was delayed and has not begun on this rank.
    void leave() override {
        if (std::exchange(runs_, false))
            neighbours_.leave_with_all();
    }
    void start(int m) override;
    void start_short(int m, Bytes bytes) override { offer(m, Note::Kind::offer, bytes); }
    void start_empty(int m) override { offer(m, Note::Kind::offer, 0); }
    ReceiveBuffer room(int m) const override;
    void start_delivered(int m) override;
    int poll(std::span<Completion> completions) override;
    void give_back(int m) override;
    void copy_loan(int m) override;
    void rest(int idle) override;

    /// Called instead of a send: announces that the data is sent over another transport. The
    /// receive completes with `announced` bytes.
    void announce(int m) { offer(m, Note::Kind::announced, at(m).bytes()); }
    static constexpr Bytes announced = -1;

    int size() const { return static_cast<int>(messages_.size()); }
    const Message& at(int message) const { return messages_[static_cast<std::size_t>(message)]; }
    /// True if neighbours can access the data of a message and the lists of pieces.
    bool shows(int message) const;
    bool lists_shown() const { return neighbours_.shows(lists_.data(), lists_.size()); }

  private:
    /// A block as described to peers.
    struct Piece {
        std::uint64_t at; ///< relative to the base of the note's source
        Bytes length, stride;
        Elements count;
    };
    struct Receive {
        bool started = false, offered = false;
        bool held = false; ///< the sender's data is being read in place
        Note offer;
        std::vector<Blocks> lent; ///< blocks of the offer, with addresses in this process
    };
    struct Send {
        /// `answered`: the receiver has announced its destination, or that it has none.
        bool started = false, answered = false;
        bool ended = false;
        Blocks room; ///< receiver's destination; base is null if none was announced
    };
    /// The peer and tag of a message.
    struct Known {
        int peer, tag, message;
        auto operator<=>(const Known&) const = default;
    };

    /// The greatest number of notes waiting at once: two per message (an offer or a destination,
    /// and a return), for this run and for the next run, which peers may have begun.
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
    std::vector<Receive> receives_;        // indexed by message
    std::vector<Send> sends_;              // indexed by message
    std::vector<Known> known_receives_;    // sorted
    std::vector<Known> known_sends_;       // sorted
    std::vector<int> peers_;               // neighbours that exchange messages with this rank
    bool runs_ = false;                    // a run has begun on this rank
    bool numbered_ = false;                // false if a peer or tag has changed
    std::vector<std::size_t> first_piece_; // indexed by message
    Memory lists_;                         // pieces of all messages
    std::vector<Note> waiting_;            // early notes being processed
    std::vector<Completion> finished_;
    bool suspects_ = false; // true if an awaited peer had returned at the last check
};

} // namespace sextant
