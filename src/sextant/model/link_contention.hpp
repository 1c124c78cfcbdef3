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
struct Travelling {
    int from = 0, to = 0;
    double bytes = 0;
};

/// When a message is there.
struct Arrival {
    int message = 0;
    Seconds time = 0;
};

/// When messages are there that share links: max-min, a message's share weighed by the inverse of
/// the latency of its way, since it must win its turn at every link. Whenever messages start or are
/// there, all share anew; what happens within a part of the time that a message takes happens
/// at once. Who drives it lets time pass, and says who starts when.
///
/// Cost      by how often shares change, the links on the ways of the messages under way.
/// Deterministic.
class Sharing {
  public:
    /// Keep the wires alive. `together` is the part of its time by which a message may wait for
    /// others to start, or end early, so that shares change less often.
    explicit Sharing(const machine::Wires& wires, double together = .02);

    /// Whether there is a link between two nodes.
    bool has_links(int from, int to);
    /// A message starts, no earlier than the one before; its number, from 0 on.
    /// Requires  a link between its nodes.
    int start(const Travelling& message, Seconds now);
    /// When something happens next, if nobody starts before; infinity where nobody is under way.
    Seconds next() const { return next_; }
    /// Lets time pass until `next()`; who is there then, or soon after, which may be nobody. Valid
    /// until the next call.
    std::span<const Arrival> pass();

  private:
    struct Way {
        Seconds start = 0;
        double weight = 0;
        double left = 0;         ///< bytes, when shares changed last
        double rate = 0;         ///< 0: has none yet
        std::size_t first = 0;   ///< in `links_`
        std::uint32_t links = 0; ///< how many
        int message = 0;
    };
    using Place = std::uint32_t; ///< in `open_`
    /// What a link has left for messages that have no rate yet.
    struct Left {
        double bytes_per_second = 0;
        double weight = 0;
        int messages = 0;
    };
    /// Who is on a link, and was since lists were tidied.
    struct Load {
        std::vector<Place> places;
        double weight = 0; ///< of those under way
        int messages = 0;  ///< under way
    };
    Left& left_of(int link) { return left_[static_cast<std::size_t>(link)]; }
    Load& load_of(int link) { return loads_[static_cast<std::size_t>(link)]; }
    std::span<const int> links_of(const Way& way) const {
        return {links_.data() + way.first, way.links};
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
    Seconds now_ = 0; ///< shares are from then
    Seconds next_;
    int count_ = 0;
    std::vector<int> links_;         ///< of ways
    std::vector<Way> open_;          ///< under way, and gone since lists were tidied
    std::vector<Seconds> dismissed_; ///< by place: from when on a message may count as there
    std::vector<bool> gone_;         ///< by place
    std::size_t many_gone_ = 0;
    std::vector<bool> settled_;    ///< by place: gone, or given a rate
    std::vector<Place> unsettled_; ///< of one link
    std::vector<Way> waiting_;     ///< for shares to change
    Seconds admitted_at_;          ///< when they will
    std::vector<Arrival> there_;
    std::vector<Load> loads_; ///< by link
    std::vector<Left> left_;  ///< by link
    std::vector<int> used_;   ///< links that messages under way are on
};

/// The messages of a play that are under way on the links of a network, by the steps that send
/// them; none ever where the question has no wires.
class Traffic {
  public:
    /// A message that has left the links.
    struct Left {
        StepOfRank send;
        Seconds time = 0;
    };

    /// Requires  a node for each rank, or none: check_nodes.
    explicit Traffic(const Question& question);

    /// Whether messages between two ranks travel on links.
    bool takes(int from, int to);
    void enter(StepOfRank send, int to, Bytes bytes, Seconds now);
    /// When something happens next; infinity: nothing.
    Seconds next() const;
    /// Lets time pass until then; who has left. Valid until the next call.
    const std::vector<Left>& pass();

  private:
    const Question& question_;
    std::optional<Sharing> sharing_;
    std::vector<StepOfRank> sends_; ///< by the number of the message
    std::vector<Left> left_;
};

} // namespace sextant::model
