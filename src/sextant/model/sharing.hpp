// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/machine/wires.hpp"

#include <span>
#include <vector>

namespace sextant::model {

/// A message between two nodes.
struct Travelling {
    int from = 0, to = 0;
    double bytes = 0;
    Seconds start = 0;
};

/// How long messages are on their way, beside latency, where they share links: max-min, a message's
/// share weighed by the inverse of the latency of its way, since it must win its turn at every
/// link. Whenever messages start or are there, all share anew; what happens within a fiftieth of
/// the time that a message takes happens at once.
///
/// Cost      by how often shares change, the links on the ways of the messages under way. Memory is
///           kept from one call to the next.
/// Deterministic.
class Sharing {
  public:
    explicit Sharing(const machine::Wires& wires);

    /// The time of each message, until the next call.
    std::span<const Seconds> of(std::span<const Travelling> messages);

  private:
    struct Way {
        std::size_t first = 0, last = 0; ///< in `ways_`
        Seconds start = 0;
        Seconds alone = 0; ///< what it would take if it met nobody
        double weight = 0;
        double left = 0; ///< bytes
        double rate = 0;
    };
    /// What a link has left for messages that have no rate yet.
    struct Link {
        double bytes_per_second = 0;
        double weight = 0;
        int messages = 0;
        std::size_t first = 0, last = 0; ///< in `on_links_`
    };
    Link& link(int i) { return links_[static_cast<std::size_t>(i)]; }
    Way& message(int i) { return messages_[static_cast<std::size_t>(i)]; }
    std::span<const int> links_of(const Way& way) const {
        return {ways_.data() + way.first, way.last - way.first};
    }

    void lay(std::span<const Travelling> messages);
    void admit(Seconds now);
    void fill_links();
    void allot();
    void settle(Way& way, double rate);
    Seconds soonest() const;
    Seconds pass(Seconds now, Seconds most);

    const machine::Wires& wires_;
    std::vector<Way> messages_;
    std::vector<int> ways_;    ///< links
    std::vector<int> waiting_; ///< messages, the next to start last
    std::vector<int> open_;    ///< messages under way
    std::vector<Link> links_;
    std::vector<int> used_;     ///< links that messages under way are on
    std::vector<int> on_links_; ///< messages under way
    std::vector<Seconds> times_;
};

} // namespace sextant::model
