// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <bit>
#include <cstdint>
#include <limits>
#include <queue>

namespace sextant::model {

/// Events of a simulated clock, by time; events at the same time in the order in which they were
/// added. An event is any number that its user can interpret.
class EventQueue {
  public:
    bool empty() const { return queue_.empty(); }
    /// The time of the first event; infinity if there is none.
    Seconds next() const {
        return empty() ? std::numeric_limits<Seconds>::infinity() : queue_.top().time;
    }
    void push(Seconds time, std::uint32_t event) { queue_.push({time + 0., count_++, event}); }
    /// Removes and returns the first event. Requires  an event.
    std::uint32_t pop() {
        const std::uint32_t first = queue_.top().event;
        queue_.pop();
        return first;
    }

  private:
    struct Entry {
        Seconds time = 0; ///< not -0
        std::uint32_t order = 0, event = 0;

        bool operator<(const Entry& other) const { return other.key() < key(); } // earliest first

      private:
        __extension__ using Key = __int128;
        /// Two numbers as one, which is faster to compare. The bits of a time that is not negative
        /// sort as the time does, and those of a negative time the other way round.
        Key key() const {
            const auto bits = std::bit_cast<std::int64_t>(time);
            return Key{bits < 0 ? bits ^ std::numeric_limits<std::int64_t>::max() : bits} << 32 |
                   order;
        }
    };

    std::priority_queue<Entry> queue_;
    std::uint32_t count_ = 0;
};

} // namespace sextant::model
