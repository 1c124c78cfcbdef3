// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/shared_memory_exchange.hpp"

#include "sextant/core/error.hpp"
#include "sextant/schedule/loans.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant {

namespace {

/// True if a note tells the sender the destination of a send, or that there is none.
bool tells_of_room(const Note& note) {
    return note.kind == Note::Kind::room || note.kind == Note::Kind::no_room;
}

} // namespace

LoanExchange::LoanExchange(Neighbourhood& neighbours, std::vector<Message> messages)
    : neighbours_(neighbours),
      messages_(std::move(messages)),
      receives_(messages_.size()),
      sends_(messages_.size()) {
    for (int m = 0; m < size(); ++m)
        receives_[static_cast<std::size_t>(m)].lent.reserve(at(m).blocks.size());
    known_receives_.reserve(messages_.size());
    known_sends_.reserve(messages_.size());
    peers_.reserve(messages_.size());
    make_lists();
    finished_.reserve(messages_.size());
    waiting_.reserve(most_notes());
    neighbours_.make_room(most_notes());
}

void LoanExchange::address(int m, int peer, int tag) {
    messages_[static_cast<std::size_t>(m)].peer = peer;
    messages_[static_cast<std::size_t>(m)].tag = tag;
    numbered_ = false;
}

void LoanExchange::number_all() {
    known_receives_.clear();
    known_sends_.clear();
    peers_.clear();
    for (int m = 0; m < size(); ++m) {
        const Message& message = at(m);
        if (!neighbours_.has(message.peer))
            continue;
        (message.sends ? known_sends_ : known_receives_).push_back({message.peer, message.tag, m});
        peers_.push_back(message.peer);
    }
    std::sort(known_receives_.begin(), known_receives_.end());
    std::sort(known_sends_.begin(), known_sends_.end());
    std::sort(peers_.begin(), peers_.end());
    peers_.erase(std::unique(peers_.begin(), peers_.end()), peers_.end());
    numbered_ = true;
}

const LoanExchange::Known* LoanExchange::find(const std::vector<Known>& all, const Note& note) {
    const Known wanted{note.source, note.tag, 0};
    const auto found = std::lower_bound(all.begin(), all.end(), wanted);
    const bool is_it = found != all.end() && found->peer == note.source && found->tag == note.tag;
    return is_it ? &*found : nullptr;
}

void LoanExchange::make_lists() {
    std::size_t pieces = 0;
    for (const Message& message : messages_) {
        first_piece_.push_back(pieces);
        pieces += message.blocks.size();
    }
    lists_ = neighbours_.memory(static_cast<Bytes>(pieces * sizeof(Piece)));
    for (int m = 0; m < size(); ++m)
        list(m);
}

void LoanExchange::list(int m) {
    const std::uintptr_t base = neighbours_.base(neighbours_.own_rank());
    auto* piece =
        reinterpret_cast<Piece*>(lists_.data()) + first_piece_[static_cast<std::size_t>(m)];
    for (const Blocks& b : at(m).blocks)
        *piece++ = {reinterpret_cast<std::uintptr_t>(b.base) - base, b.length, b.stride, b.count};
}

void LoanExchange::place(int m, const std::vector<Blocks>& blocks) {
    messages_[static_cast<std::size_t>(m)].blocks = blocks;
    list(m);
}

bool LoanExchange::shows(int m) const {
    const auto seen = [&](const Blocks& b) {
        return neighbours_.shows(b.base,
                                 b.contiguous() ? b.bytes() : (b.count - 1) * b.stride + b.length);
    };
    const std::vector<Blocks>& blocks = at(m).blocks;
    return lists_shown() && std::all_of(blocks.begin(), blocks.end(), seen);
}

void LoanExchange::begin() {
    if (!numbered_)
        number_all();
    neighbours_.enter_run();
    runs_ = true;
    for (Receive& receive : receives_)
        receive.started = receive.offered = receive.held = false;
    std::fill(sends_.begin(), sends_.end(), Send{});
    finished_.clear();
    for (const int peer : peers_)
        ++neighbours_.runs[static_cast<std::size_t>(peer)];
    show_rooms();
    waiting_.clear();
    std::swap(waiting_, neighbours_.early);
    for (const Note& note : waiting_)
        take(note);
}

/// Announces this rank's destinations before any offer, so that a peer can fold directly into them.
void LoanExchange::show_rooms() {
    for (const auto& [peer, tag, m] : known_receives_) {
        if (has_room(m))
            neighbours_.post(peer, note_of(m, Note::Kind::room));
        else if (at(m).bytes() >= least_promised_room)
            neighbours_.post(peer, note_of(m, Note::Kind::no_room));
    }
}

/// True if the sender may write directly into a receive's memory.
bool LoanExchange::has_room(int m) const {
    const Message& message = at(m);
    return message.free && !message.lends && message.blocks.size() == 1 &&
           message.bytes() >= least_room && shows(m);
}

ReceiveBuffer LoanExchange::room(int m) const {
    const Send& send = sends_[static_cast<std::size_t>(m)];
    const Bytes bytes = at(m).bytes();
    const bool open = lends(m) && !send.answered && bytes >= least_room;
    return {send.room, open, open && bytes >= least_promised_room};
}

void LoanExchange::start(int m) {
    if (at(m).sends)
        return offer(m, Note::Kind::offer, at(m).bytes());
    Receive& receive = receives_[static_cast<std::size_t>(m)];
    receive.started = true;
    if (receive.offered)
        match(m);
}

void LoanExchange::start_delivered(int m) {
    offer(m, Note::Kind::delivered, at(m).bytes());
    sends_[static_cast<std::size_t>(m)].ended = true;
    finished_.push_back({m, at(m).bytes(), {}}); // done: no rank reads this rank's memory
}

int LoanExchange::poll(std::span<Completion> completions) {
    for (const Note& note : neighbours_.take())
        take(note);
    const std::size_t count = std::min(completions.size(), finished_.size());
    std::copy_n(finished_.begin(), count, completions.begin());
    finished_.erase(finished_.begin(), finished_.begin() + static_cast<std::ptrdiff_t>(count));
    return static_cast<int>(count);
}

/// A peer may have posted notes before it returned, so PeerFailed is thrown only at the second
/// check, when those notes have been taken and the peer is still awaited.
void LoanExchange::rest(int idle) {
    constexpr int between_looks = 16, before_looks = 256;
    neighbours_.rest(idle);
    if (idle < before_looks || idle % between_looks != 0)
        return;
    const int gone = awaited_that_is_gone();
    if (gone >= 0 && suspects_) {
        neighbours_.check_failure();
        throw PeerFailed(gone, fmt::format("rank {} waits for rank {}, which has returned",
                                           neighbours_.own_rank(), gone));
    }
    suspects_ = gone >= 0;
}

/// Returns a peer that has returned although a message from or to it is pending; -1 if there is
/// none.
int LoanExchange::awaited_that_is_gone() const {
    for (int m = 0; m < size(); ++m) {
        const auto i = static_cast<std::size_t>(m);
        const bool waits = at(m).sends ? sends_[i].started && !sends_[i].ended
                                       : receives_[i].started && !receives_[i].offered;
        if (waits && neighbours_.has(at(m).peer) && neighbours_.is_gone(at(m).peer))
            return at(m).peer;
    }
    return -1;
}

void LoanExchange::give_back(int m) {
    if (receives_[static_cast<std::size_t>(m)].held)
        return_loan(m);
}

void LoanExchange::return_loan(int m) {
    Receive& receive = receives_[static_cast<std::size_t>(m)];
    receive.held = false;
    const Note& offer = receive.offer;
    Note note = note_of(m, Note::Kind::returned);
    note.message = offer.message;
    neighbours_.post(at(m).peer, note);
}

void LoanExchange::copy_loan(int m) {
    const Receive& receive = receives_[static_cast<std::size_t>(m)];
    if (receive.offer.bytes < at(m).bytes()) // shortened, so contiguous
        std::copy_n(receive.lent.front().base, receive.offer.bytes, at(m).blocks.front().base);
    else
        copy(at(m).blocks, receive.lent);
    return_loan(m);
}

Note LoanExchange::note_of(int m, Note::Kind kind) const {
    const Message& message = at(m);
    const auto list = reinterpret_cast<std::uintptr_t>(lists_.data()) +
                      first_piece_[static_cast<std::size_t>(m)] * sizeof(Piece) -
                      neighbours_.base(neighbours_.own_rank());
    return {.kind = kind,
            .lends = message.lends,
            .source = neighbours_.own_rank(),
            .tag = message.tag,
            .message = m,
            .pieces = static_cast<std::uint32_t>(message.blocks.size()),
            .run = neighbours_.runs[static_cast<std::size_t>(message.peer)],
            .bytes = message.bytes(),
            .list = list};
}

void LoanExchange::offer(int m, Note::Kind kind, Bytes bytes) {
    sends_[static_cast<std::size_t>(m)].started = true;
    Note note = note_of(m, kind);
    note.bytes = bytes;
    neighbours_.post(at(m).peer, note);
}

/// A peer may be one run ahead; its notes are kept for the next run. A note of an earlier run is a
/// destination announced too late; it is ignored, as the receiver may have reused the memory.
void LoanExchange::take(const Note& note) {
    const std::uint32_t run = neighbours_.runs[static_cast<std::size_t>(note.source)];
    if (note.kind == Note::Kind::returned) {
        sends_[static_cast<std::size_t>(note.message)].ended = true;
        finished_.push_back({note.message, at(note.message).bytes(), {}});
    } else if (note.run == run + 1) {
        neighbours_.early.push_back(note);
    } else if (note.run == run) {
        tells_of_room(note) ? take_room(note) : take_offer(note);
    }
}

void LoanExchange::take_offer(const Note& note) {
    const Known* const found = find(known_receives_, note);
    if (!found) {
        throw std::logic_error(fmt::format("rank {}: unexpected message {} from rank {}",
                                           neighbours_.own_rank(), note.tag, note.source));
    }
    Receive& receive = receives_[static_cast<std::size_t>(found->message)];
    receive.offered = true;
    receive.offer = note;
    if (receive.started)
        match(found->message);
}

void LoanExchange::take_room(const Note& note) {
    const Known* const found = find(known_sends_, note);
    if (!found || at(found->message).bytes() != note.bytes)
        return;
    Send& send = sends_[static_cast<std::size_t>(found->message)];
    if (send.started)
        return;
    send.answered = true;
    if (note.kind == Note::Kind::room)
        send.room = block(note, 0);
}

void LoanExchange::match(int m) {
    Receive& receive = receives_[static_cast<std::size_t>(m)];
    const Note& offer = receive.offer;
    if (offer.bytes > at(m).bytes()) {
        throw std::logic_error(fmt::format("rank {}: {} bytes from rank {}, expected at most {}",
                                           neighbours_.own_rank(), offer.bytes, offer.source,
                                           at(m).bytes()));
    }
    const bool lies_there = offer.kind == Note::Kind::offer && offer.bytes > 0;
    if (lies_there)
        locate(offer, receive.lent);
    if (lies_there && offer.lends && at(m).lends) {
        receive.held = true;
        finished_.push_back({m, offer.bytes, receive.lent});
        return;
    }
    if (lies_there)
        copy_loan(m);
    else if (offer.kind == Note::Kind::offer)
        return_loan(m);
    const bool elsewhere = offer.kind == Note::Kind::announced;
    finished_.push_back({m, elsewhere ? announced : offer.bytes, {}});
}

void LoanExchange::locate(const Note& note, std::vector<Blocks>& blocks) const {
    blocks.clear();
    for (std::uint32_t i = 0; i < note.pieces; ++i)
        blocks.push_back(block(note, i));
}

/// Block number `i` in a note's list, with its address in this process.
Blocks LoanExchange::block(const Note& note, std::uint32_t i) const {
    const std::uintptr_t base = neighbours_.base(note.source);
    const Piece& piece = reinterpret_cast<const Piece*>(base + note.list)[i];
    return {reinterpret_cast<std::byte*>(base + piece.at), piece.length, piece.stride, piece.count};
}

} // namespace sextant
