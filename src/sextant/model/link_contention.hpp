// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/machine/topology.hpp"
#include "sextant/model/model.hpp"
#include "sextant/schedule/matching.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sextant::model {

/// A message between two nodes.
struct MessageInFlight {
    int from = 0, to = 0;
    double bytes = 0;
};

/// The arrival time of a message.
struct Arrival {
    int message = 0;
    Seconds time = 0;
};

/// Computes when messages that share links arrive. Rates are max-min fair, weighted by the inverse
/// latency of each message's path, since a message competes at every link. Rates are recomputed
/// when messages start or arrive; events that are close together, relative to a message's duration,
/// are handled as one. The caller advances time and starts messages.
///
/// Cost      per recomputation, the number of links on the paths of the messages in flight.
/// Deterministic.
class Sharing {
  public:
    /// Keeps a reference to `wires`. To recompute rates less often, a message may start late or
    /// free its links early by the fraction `together` of its duration.
    explicit Sharing(const machine::Wires& wires, double together = .02);

    /// True if there is a link between the two nodes.
    bool has_links(int from, int to);
    /// Starts a message at `now`, which must not be earlier than the previous start. Returns its
    /// number, counted from 0.
    /// Requires  a link between its nodes.
    int start(const MessageInFlight& message, Seconds now);
    /// The time of the next event if no message starts before it; infinity if no message is in
    /// flight.
    Seconds next() const { return next_; }
    /// Advances to `next()` and returns the messages that arrive then or shortly after; possibly
    /// none. Valid until the next call.
    std::span<const Arrival> pass();

  private:
    struct Configuration {
        Seconds start = 0;
        double weight = 0;
        double left = 0;         ///< bytes left at the last recomputation
        double rate = 0;         ///< bytes per second; 0: not set yet
        std::size_t first = 0;   ///< index of the message's first link in `links_`
        std::uint32_t links = 0; ///< number of links on the message's path
        int message = 0;
    };
    using Place = std::uint32_t; ///< index into `open_`
    /// While new rates are assigned: the capacity of a link that is still free, and the messages on
    /// it that have no new rate yet.
    struct Left {
        double bytes_per_second = 0;
        double weight = 0;
        int messages = 0;
    };
    /// The messages on a link, including those that arrived since the last tidy().
    struct Load {
        std::vector<Place> places;
        double weight = 0; ///< total weight of messages in flight
        int messages = 0;  ///< number of messages in flight
    };
    Left& left_of(int link) { return left_[static_cast<std::size_t>(link)]; }
    Load& load_of(int link) { return loads_[static_cast<std::size_t>(link)]; }
    std::span<const int> links_of(const Configuration& configuration) const {
        return {links_.data() + configuration.first, configuration.links};
    }

    void dismiss();
    void take_off_links(Place place);
    void tidy();
    void admit();
    void fill_links();
    void allot();
    void settle_all_on(int link, double rate_by_weight, Seconds passed);
    void settle(Place place, double rate, Seconds passed);

    const machine::Wires& wires_;
    const double together_;
    Seconds now_ = 0; ///< time since which the current rates apply
    Seconds next_;
    int count_ = 0;
    std::vector<int> links_;          ///< links of all paths
    std::vector<Configuration> open_; ///< messages in flight, and those that arrived since tidy()
    // For each message in `open_`:
    std::vector<Seconds> dismissed_; ///< time from which it may count as arrived
    std::vector<bool> gone_;         ///< true if it has arrived
    std::size_t many_gone_ = 0;
    std::vector<bool> settled_;    ///< for each in `open_`: true if arrived or its new rate is set
    std::vector<Place> unsettled_; ///< messages on one link without a new rate
    std::vector<Configuration> waiting_; ///< messages to be admitted
    Seconds admitted_at_;                ///< time at which `waiting_` is admitted
    std::vector<Arrival> there_;
    std::vector<Load> loads_; ///< one per link
    std::vector<Left> left_;  ///< one per link
    std::vector<int> used_;   ///< links with messages in flight
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

    /// Requires  a node for each rank or for none (check_nodes).
    explicit Traffic(const Question& question);

    /// True if messages between the two ranks travel on links.
    bool takes(int from, int to);
    void enter(StepOfRank send, int to, Bytes bytes, Seconds now);
    /// The time of the next event; infinity if there is none.
    Seconds next() const;
    /// Advances to `next()` and returns the messages that have left. Valid until the next call.
    const std::vector<Left>& pass();

  private:
    const Question& question_;
    std::optional<Sharing> sharing_;
    std::vector<StepOfRank> sends_; ///< [message]: its send step
    std::vector<Left> left_;
};

} // namespace sextant::model
