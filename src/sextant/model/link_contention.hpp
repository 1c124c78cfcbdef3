// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/machine/topology.hpp"
#include "sextant/model/model.hpp"
#include "sextant/schedule/matching.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

namespace sextant::model {

/// A message between two ends of machine::Wires, such as ranks.
struct MessageInFlight {
    int from = 0, to = 0;
    double bytes = 0;
};

/// The arrival time of a message.
struct Arrival {
    int message = 0;
    Seconds time = 0;
};

/// Computes the arrival times of messages that share links. Rates are max-min fair, weighted by the
/// inverse latency of each message's path, because a message competes at every link of its path.
/// Rates are recomputed when messages start or arrive; events that are close together, relative to
/// a message's duration, are handled as one. The caller advances time and starts messages.
///
/// Messages are divided into components: messages of different components share no link, not even
/// through other messages. Each component is recomputed only at its own events, so messages in
/// different components do not affect each other. Within a component, rates lower than those that
/// the event can affect are kept.
///
/// Cost      per event, the number of links on the paths of the messages in one component whose
///           rates may change.
/// Deterministic.
class Sharing {
  public:
    /// Keeps a reference to `wires`. To recompute rates less often, a message may start late or
    /// free its links early by the fraction `together` of its duration.
    explicit Sharing(const machine::Wires& wires, double together = .02);

    /// Starts a message at `now`, which must not be earlier than the previous start. Returns its
    /// number, counted from 0.
    /// Requires  a link between its ends.
    int start(const MessageInFlight& message, Seconds now);
    /// The time of the next event if no message starts before it; infinity if no message is in
    /// flight.
    Seconds next() const { return due_.empty() ? never : due_.front().time; }
    /// Advances to `next()` and returns messages that arrive then or shortly after; possibly none.
    /// Valid until the next call.
    std::span<const Arrival> pass();

  private:
    static constexpr Seconds never = std::numeric_limits<Seconds>::infinity();
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    using Place = std::uint32_t;       ///< index into `open_`
    using ComponentId = std::uint32_t; ///< index into `components_`

    struct alignas(64) Flow { // one cache line
        Seconds start = 0;
        double weight = 0;
        double left = 0;               ///< bytes left at the time `since`
        double rate = 0;               ///< bytes per second; 0: not set yet
        Seconds since = 0;             ///< time at which the rate was set
        Seconds dismissed = 0;         ///< time from which the message may count as arrived
        std::uint32_t first = 0;       ///< index of the message's first link in `links_`
        std::uint32_t links : 31 = 0;  ///< number of links on the message's path
        std::uint32_t settled : 1 = 0; ///< 1 if its rate is set
        int message = 0;
    };
    /// The messages whose rates one link limits: they follow each other in Component::open.
    struct Share {
        double rate_by_weight = 0;
        std::size_t first = 0;     ///< index of the first one in Component::open
        Seconds next = never;      ///< the earliest arrival
        Seconds dismissed = never; ///< the earliest time from which one may count as arrived
    };
    /// A set of messages that may share links. May temporarily consist of several unconnected
    /// parts, because it is split only when half of its messages have arrived.
    struct Component {
        Seconds next = never;        ///< time of its next event
        Seconds admitted_at = never; ///< time at which the messages in `waiting` are admitted
        std::uint32_t version = 0;   ///< changes with `next`
        std::size_t gone = 0;        ///< number of messages that arrived since tidy()
        double affected = never;     ///< the lowest rate per weight that is no longer valid
        std::vector<Share> shares;   ///< by rate per weight
        std::size_t settled = 0;     ///< number of messages in `shares`
        std::vector<Place> open;     ///< messages in flight: those in `shares`, then the others
        std::vector<Place> waiting;  ///< messages to be admitted
        std::vector<int> used;       ///< links of its messages; may contain links no longer used
    };
    /// A component's next event. Outdated if the component's version differs.
    struct Due {
        Seconds time = 0;
        ComponentId component = 0;
        std::uint32_t version = 0;
        bool operator>(const Due& other) const {
            return std::tie(time, component) > std::tie(other.time, other.component);
        }
    };
    /// The free capacity of a link, and the weight and number of its messages without a rate.
    struct Left {
        double bytes_per_second = 0;
        double weight = 0;
        int messages = 0;
        std::uint32_t first = 0; ///< index of the first message without a rate in `on_links_`
    };
    /// The messages on a link.
    struct Load {
        double weight = 0;            ///< total weight of messages in flight
        int messages = 0;             ///< number of messages in flight
        int sharing = 0;              ///< number of messages that `bytes_per_second` is for
        double bytes_per_second = 0;  ///< capacity of the link
        ComponentId component = none; ///< component that uses the link
    };
    /// A link, and the lowest rate per weight that it offers: the bits of the rate, which sort as
    /// the rate does, and below them the number of the link. Faster to compare than two numbers.
    __extension__ using Level = unsigned __int128;
    static Level level_with(double rate_by_weight, int link) {
        return Level{std::bit_cast<std::uint64_t>(std::max(0., rate_by_weight))} << 32 |
               static_cast<std::uint32_t>(link);
    }
    static double rate_by_weight(Level level) {
        return std::bit_cast<double>(static_cast<std::uint64_t>(level >> 32));
    }
    Left& left_of(int link) { return left_[static_cast<std::size_t>(link)]; }
    Load& load_of(int link) { return loads_[static_cast<std::size_t>(link)]; }
    std::span<const int> links_of(const Flow& flow) const {
        return {links_.data() + flow.first, flow.links};
    }
    /// Prefetches messages that are visited in random order and may not fit in the caches.
    void prefetch(std::span<const Place> places, std::size_t i) const {
        constexpr std::size_t flows_ahead = 12, links_ahead = 6;
        if (i + flows_ahead < places.size())
            __builtin_prefetch(&open_[places[i + flows_ahead]]);
        if (i + links_ahead < places.size())
            __builtin_prefetch(links_of(open_[places[i + links_ahead]]).data());
    }
    double level_of(int link) { return left_of(link).bytes_per_second / left_of(link).weight; }

    void drop_old_links();
    Place place_for(const Flow& flow);
    ComponentId component_with(const Flow& flow);
    ComponentId new_component();
    ComponentId joined(ComponentId a, ComponentId b);
    void release(ComponentId which);
    void schedule(ComponentId which);
    void dismiss(Component& component);
    void unsettle(Component& component, std::size_t first_share);
    void take_off_links(const Flow& flow);
    void tidy(ComponentId which);
    void divide(ComponentId which);
    void admit(ComponentId which);
    void release_empty_links(ComponentId which);
    void list_unsettled(Component& component);
    void allot(Component& component);
    void settle_all_on(int link, double rate_by_weight, Seconds now, Component& component);
    Seconds settle(Flow& flow, double rate, Seconds now);

    const machine::Wires& wires_;
    const double together_;
    int count_ = 0;
    std::size_t in_flight_ = 0;  ///< messages in flight or waiting
    std::vector<int> links_;     ///< links of all paths
    std::size_t links_kept_ = 0; ///< number of links after the last drop_old_links()
    std::vector<Flow> open_;
    std::vector<Place> free_places_;
    std::deque<Component> components_; ///< references stay valid when it grows
    std::vector<ComponentId> free_components_;
    std::vector<Due> due_; ///< a heap; the first entry is never outdated
    std::vector<Arrival> there_;
    std::vector<Load> loads_; ///< one per link
    std::vector<Left> left_;  ///< one per link
    // Temporary lists, kept to avoid allocations:
    std::vector<Level> levels_;
    std::vector<int> emptied_;    ///< links whose last message has arrived
    std::vector<int> touched_;    ///< links of messages without a rate
    std::vector<Place> on_links_; ///< messages without a rate, by link
};

/// The messages of a replay that are on shared links, identified by their send steps. Always empty
/// if the question has no wires.
class Traffic {
  public:
    /// A message that has left the links.
    struct Left {
        StepOfRank send;
        Seconds time = 0;
    };

    explicit Traffic(const Question& question) : wires_(question.wires) {}

    /// True if messages between the two ranks use links.
    bool takes(int from, int to);
    void enter(StepOfRank send, int to, Bytes bytes, Seconds now);
    /// The time of the next event; infinity if there is none.
    Seconds next() const;
    /// Advances to `next()` and returns the messages that have left. Valid until the next call.
    const std::vector<Left>& pass();

  private:
    const machine::Wires* wires_;
    std::vector<int> path_;
    std::optional<Sharing> sharing_; ///< empty until the first message: large networks are large
    std::vector<StepOfRank> sends_;  ///< [message]: its send step
    std::vector<Left> left_;
};

} // namespace sextant::model
