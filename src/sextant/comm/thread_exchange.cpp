// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/thread_exchange.hpp"

#include "sextant/comm/waiting.hpp"

#include <algorithm>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

namespace sextant {

ThreadExchange::ThreadExchange(ThreadTransport& transport, std::vector<Message> messages)
    : transport_(transport),
      group_(transport.group()),
      messages_(std::move(messages)),
      receives_(messages_.size()),
      crowded_(group_.crowded()) {
    for (std::size_t m = 0; m < messages_.size(); ++m) {
        const Message& message = messages_[m];
        if (!message.sends)
            by_sender_[{message.peer, message.tag}] = static_cast<int>(m);
    }
    finished_.reserve(messages_.size());
    transport_.make_room(most_notes());
}

ThreadExchange::~ThreadExchange() {
    transport_.need_less_room(most_notes());
}

void ThreadExchange::begin() {
    group_.enter_run();
    std::fill(receives_.begin(), receives_.end(), Receive{});
    finished_.clear();
    transport_.taken.clear();
    std::swap(transport_.taken, transport_.early);
    for (const Note& note : transport_.taken)
        take(note);
}

void ThreadExchange::abandon() {
    group_.cancel(transport_.rank());
    group_.leave_run();
    group_.wait_until_none_runs();
}

void ThreadExchange::start(int m) {
    if (at(m).sends)
        return offer(m, at(m).bytes());
    Receive& receive = receives_[static_cast<std::size_t>(m)];
    receive.started = true;
    if (receive.offered)
        match(m);
}

int ThreadExchange::poll(std::span<Completion> completions) {
    group_.check();
    transport_.taken.clear();
    group_.inbox(transport_.rank()).take(transport_.taken);
    for (const Note& note : transport_.taken)
        take(note);
    const std::size_t count = std::min(completions.size(), finished_.size());
    std::copy_n(finished_.begin(), count, completions.begin());
    finished_.erase(finished_.begin(), finished_.begin() + static_cast<std::ptrdiff_t>(count));
    return static_cast<int>(count);
}

void ThreadExchange::give_back(int m) {
    const Note& offer = receives_[static_cast<std::size_t>(m)].offer;
    group_.inbox(at(m).peer)
        .post({Note::Kind::returned, false, transport_.rank(), offer.tag, 0, nullptr, offer.sender,
               offer.message});
}

void ThreadExchange::copy_loan(int m) {
    const Note& offer = receives_[static_cast<std::size_t>(m)].offer;
    const std::vector<Blocks>& from = *offer.blocks;
    if (offer.bytes < at(m).bytes()) // a short message lies in one piece
        std::copy_n(from.front().base, offer.bytes, at(m).blocks.front().base);
    else
        copy(at(m).blocks, from);
    give_back(m);
}

void ThreadExchange::rest(int idle) {
    constexpr int pauses = 200, yields = 400;
    if (idle < pauses && !crowded_)
        pause_briefly();
    else if (idle < yields)
        std::this_thread::yield();
    else
        group_.inbox(transport_.rank()).sleep();
}

void ThreadExchange::offer(int m, Bytes bytes) {
    const Message& message = at(m);
    group_.inbox(message.peer)
        .post({Note::Kind::offer, message.lends, transport_.rank(), message.tag, bytes,
               &message.blocks, this, m});
}

void ThreadExchange::take(const Note& note) {
    if (note.kind == Note::Kind::returned) {
        finished_.push_back({note.message, note.sender->at(note.message).bytes(), {}});
        return;
    }
    const auto found = by_sender_.find({note.source, note.tag});
    if (found == by_sender_.end() || receives_[static_cast<std::size_t>(found->second)].offered) {
        transport_.early.push_back(note);
        return;
    }
    Receive& receive = receives_[static_cast<std::size_t>(found->second)];
    receive.offered = true;
    receive.offer = note;
    if (receive.started)
        match(found->second);
}

void ThreadExchange::match(int m) {
    const Note& offer = receives_[static_cast<std::size_t>(m)].offer;
    if (offer.bytes > at(m).bytes()) {
        throw std::logic_error(fmt::format("rank {}: {} bytes from rank {}, room for {}",
                                           transport_.rank(), offer.bytes, offer.source,
                                           at(m).bytes()));
    }
    if (offer.lends && at(m).lends && offer.bytes > 0) {
        finished_.push_back({m, offer.bytes, *offer.blocks});
        return;
    }
    if (offer.bytes > 0)
        copy_loan(m);
    else
        give_back(m);
    finished_.push_back({m, offer.bytes, {}});
}

} // namespace sextant
