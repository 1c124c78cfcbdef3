// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/topology.hpp"
#include "sextant/model/link_contention.hpp"

#include <cstdint>
#include <queue>
#include <span>
#include <vector>

namespace sextant::simulate {

/// Computes when messages arrive in a network with wormhole switching. A packet acquires the links
/// of its path one after another, and holds them while it waits for the next one. Once it holds all
/// links, it is transferred at the rate of the slowest link, and then releases them. Packets get a
/// link in the order in which they began to wait for it. The packets of a message follow one
/// another, and the message keeps the first link of its path until it has arrived. The caller
/// advances time and starts messages.
///
/// Requires  paths whose packets cannot wait for each other in a cycle, such as dimension-ordered
///           paths in a mesh; otherwise messages may never arrive.
/// Cost      the number of links on the path of each packet.
/// Deterministic.
class Wormholes {
  public:
    /// Keeps a reference to `wires`. Requires packet > 0.
    Wormholes(const machine::Wires& wires, Bytes packet);

    /// Starts a message at `now`, which must not be earlier than the previous start or arrival.
    /// Returns its number, counted from 0.
    /// Requires  a link between its nodes.
    int start(const model::MessageInFlight& message, Seconds now);
    /// The end of the next transfer; infinity if there is none.
    Seconds next() const;
    /// Advances to `next()` and returns the message that arrives then, if any. Valid until the next
    /// call.
    std::span<const model::Arrival> pass();

  private:
    struct Message {
        double left = 0;                   ///< bytes that remain after the packet in transit
        double packet = 0;                 ///< bytes of the packet in transit
        std::size_t first_link = 0;        ///< index of the path's first link in `paths_`
        std::uint32_t links = 0, held = 0; ///< links on the path, and links that the packet holds
    };
    struct Transfer {
        Seconds end = 0;
        std::uint64_t number =
            0; ///< transfers that end at the same time end in order of their start
        int message = 0;

        bool operator<(const Transfer& other) const; ///< earliest first in a priority queue
    };
    struct Link {
        bool is_held = false;
        std::queue<int> waiting; ///< messages whose packets wait for this link
    };

    Message& message_of(int number) { return messages_[static_cast<std::size_t>(number)]; }
    Link& link_of(int number) { return links_[static_cast<std::size_t>(number)]; }
    std::span<const int> path_of(const Message& message) const {
        return {paths_.data() + message.first_link, message.links};
    }
    void next_packet(int message);
    void advance(int message, Seconds now);
    void release(int link, Seconds now);

    const machine::Wires& wires_;
    const double packet_;
    std::vector<int> paths_; ///< links of all paths
    std::vector<Message> messages_;
    std::vector<Link> links_;
    std::priority_queue<Transfer> transfers_;
    std::uint64_t count_ = 0;
    std::vector<model::Arrival> there_;
};

} // namespace sextant::simulate
