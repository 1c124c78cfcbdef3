// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/simulate/wormholes.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace sextant::simulate {

bool Wormholes::Transfer::operator<(const Transfer& other) const {
    return std::tie(other.end, other.number) < std::tie(end, number);
}

Wormholes::Wormholes(const machine::Wires& wires, Bytes packet)
    : wires_(wires),
      packet_(static_cast<double>(packet)),
      links_(static_cast<std::size_t>(wires.links)) {}

int Wormholes::start(const model::MessageInFlight& message, Seconds now) {
    const auto number = static_cast<int>(messages_.size());
    Message own{.left = message.bytes, .first_link = paths_.size()};
    wires_.route(message.from, message.to, paths_);
    own.links = static_cast<std::uint32_t>(paths_.size() - own.first_link);
    messages_.push_back(own);
    next_packet(number);
    advance(number, now);
    return number;
}

void Wormholes::next_packet(int number) {
    Message& message = message_of(number);
    message.packet = std::min(packet_, message.left);
    message.left -= message.packet;
}

/// Acquires free links until the path is complete or a link is held by another packet.
void Wormholes::advance(int number, Seconds now) {
    Message& message = message_of(number);
    const std::span<const int> path = path_of(message);
    while (message.held < message.links) {
        Link& link = link_of(path[message.held]);
        if (link.is_held)
            return link.waiting.push(number);
        link.is_held = true;
        ++message.held;
    }
    Seconds took = 0;
    for (const int link : path)
        took = std::max(took, wires_.busy(link, message.packet, 1));
    transfers_.push({now + took, count_++, number});
}

/// Passes a link on to the first packet that waits for it.
void Wormholes::release(int number, Seconds now) {
    Link& link = link_of(number);
    link.is_held = !link.waiting.empty();
    if (!link.is_held)
        return;
    const int next = link.waiting.front();
    link.waiting.pop();
    ++message_of(next).held;
    advance(next, now);
}

Seconds Wormholes::next() const {
    return transfers_.empty() ? std::numeric_limits<Seconds>::infinity() : transfers_.top().end;
}

std::span<const model::Arrival> Wormholes::pass() {
    const Transfer ended = transfers_.top();
    transfers_.pop();
    there_.clear();
    Message& message = message_of(ended.message);
    const std::span<const int> path = path_of(message);
    const bool arrived = message.left <= 0;
    message.held = 1;
    for (const int link : path.subspan(1))
        release(link, ended.end);
    if (arrived) {
        release(path.front(), ended.end);
        there_.push_back({ended.message, ended.end});
    } else {
        next_packet(ended.message);
        advance(ended.message, ended.end);
    }
    return there_;
}

} // namespace sextant::simulate
