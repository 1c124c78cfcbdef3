// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/p3pc_extended.hpp"

#include "sextant/machine/interpolate.hpp"
#include "sextant/machine/topology.hpp"
#include "sextant/model/critical_path.hpp"
#include "sextant/model/message.hpp"
#include "sextant/model/work_costs.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sextant::model {

namespace {

/// The number of links of a mesh, torus or linear array, counting both directions.
double links_of(const machine::Topology& topology) {
    const bool closed = topology.shape == machine::Shape::torus;
    double links = 0;
    for (int extent : topology.extents) {
        const int along = closed && extent > 2 ? extent : extent - 1;
        links += 2.0 * along * topology.processors() / extent;
    }
    return links;
}

double traffic_of(const Question& question) {
    double bytes = 0;
    for (int rank = 0; rank < static_cast<int>(question.schedule.size()); ++rank) {
        const Program& program = question.schedule[static_cast<std::size_t>(rank)];
        for (const Step& step : program.steps) {
            if (step.verb == Verb::send && joins_nodes(question, rank, step.peer))
                bytes += static_cast<double>(bytes_of(question, program, step));
        }
    }
    return bytes;
}

} // namespace

Contention::Contention(const Question& question) {
    const auto& network = question.machine.network;
    if (!network)
        return;
    using machine::Shape;
    const Shape shape = network->topology.shape;
    if (shape != Shape::mesh && shape != Shape::torus && shape != Shape::linear_array) {
        throw CannotExpress(fmt::format(
            "the network of {} is a {}: contention is modelled only for meshes and tori",
            question.machine.name, name(shape)));
    }
    dimensions_ = static_cast<int>(network->topology.extents.size());
    hops_ = machine::exact_wiring(network->topology).latency;
    links_ = links_of(network->topology);
    seconds_per_byte_ = Span(network->seconds_per_byte);
    traffic_ = traffic_of(question);
}

double Contention::use(Seconds duration) const {
    const double busy = traffic_ * hops_ * seconds_per_byte_.median;
    return busy == 0 ? 0 : busy / (links_ * duration);
}

Span Contention::delay(Bytes bytes, double use) const {
    if (!known())
        return Span();
    const double along = hops_ / dimensions_;
    if (along <= 1)
        return Span();
    const double shape = (along - 1) / (along * along) * (1 + 1.0 / dimensions_);
    return seconds_per_byte_ * (static_cast<double>(bytes) * hops_ * shape * use / (1 - use));
}

namespace {

using machine::Layout;
using machine::Path;
using machine::Strategy;

/// Computes the costs of messages that are alone in the network.
class Pricing {
  public:
    explicit Pricing(const Question& question)
        : question_(question), work_(question), lookup_(question) {}

    MessageCost operator()(const Message& message) {
        if (message.made_there)
            return announced(message);
        if (message.lent)
            return lent(message);
        if (message.meets)
            return overheads(message);
        MessageCost cost = paths(message);
        if (message.link == machine::Link::same_process) {
            cost.send_processor = cost.send;
            cost.receive_processor = cost.receive;
            cost.rendezvous = true;
            return cost;
        }
        const machine::LinkCosts& link = costs_of(question_.machine, message.link);
        if (!link.gap.empty())
            cost.send = later(cost.send, lookup_.at_size(link.gap, message.bytes));
        cost.rendezvous = !link.switches.empty() && message.bytes > link.switches.back();
        // A rendezvous send is a single copy, made by the receiver.
        const bool sender_moves = message.link != machine::Link::other_node && !cost.rendezvous;
        const bool receiver_moves = message.link != machine::Link::other_node;
        const MessageCost overhead = empty(message);
        cost.send_processor = sender_moves ? cost.send : overhead.send;
        if (!link.sending.empty())
            cost.send_processor = lookup_.at_size(link.sending, message.bytes);
        cost.receive_processor = receiver_moves ? cost.receive : overhead.receive;
        return cost;
    }

    const Lookup& lookup() const { return lookup_; }

  private:
    MessageCost empty(Message message) {
        message.bytes = 0;
        return paths(message);
    }

    /// Returns the cost of a message whose bytes the links transfer without the help of a
    /// processor.
    MessageCost overheads(const Message& message) {
        MessageCost cost = empty(message);
        cost.send_processor = cost.send;
        cost.receive_processor = cost.receive;
        const machine::LinkCosts& link = costs_of(question_.machine, message.link);
        cost.rendezvous = !link.switches.empty() && message.bytes > link.switches.back();
        return cost;
    }

    MessageCost paths(const Message& message) {
        if (message.layout != Layout::cc && packs(message))
            return packed(message);
        const auto path = [&](Path which) {
            return lookup_.at_size_and_block(message, which, question_.strided);
        };
        MessageCost cost{path(Path::send), path(Path::receive), path(Path::full), {}, {}};
        // Between ranks that share memory, the sender announces the message, and the receiver
        // copies it.
        if (message.link == machine::Link::same_process && message.bytes > 0)
            cost.send = empty(message).send;
        return cost;
    }

    /// True if the cost must be computed from a contiguous message and a copy rate, because the
    /// profile has no curve for the layout.
    bool packs(const Message& message) const {
        const auto& link = costs_of(question_.machine, message.link);
        if (machine::find(link, Path::full, message.layout, question_.strided))
            return false;
        return question_.strided == Strategy::packing || !question_.machine.copies.empty();
    }

    /// Returns the cost of a message that is written directly into the receiver's memory: the
    /// sender only announces the message.
    MessageCost announced(const Message& message) {
        const auto& points =
            curve(question_, message.link, Path::full, Layout::cc, Strategy::contiguous).points;
        MessageCost cost;
        cost.full = cost.receive = lookup_.at_size(points, points.front().bytes);
        return cost;
    }

    /// Returns the cost of a zero-copy receive: the sender only announces the address, and reading
    /// from the sender's memory lengthens the fold. If zero-copy reads were not measured, they cost
    /// as much as an empty message.
    MessageCost lent(const Message& message) {
        const auto& link = costs_of(question_.machine, message.link);
        const machine::Curve* lending =
            machine::find(link, Path::full, Layout::cc, Strategy::lending);
        const auto& points =
            lending ? lending->points
                    : curve(question_, message.link, Path::full, Layout::cc, Strategy::contiguous)
                          .points;
        const Span empty = lookup_.at_size(points, points.front().bytes);
        MessageCost cost;
        cost.full = lending ? lookup_.at_size(points, message.bytes) : empty;
        cost.receive = cost.full;
        cost.receive_processor = later(cost.full - empty, Span());
        return cost;
    }

    /// Returns the cost of a contiguous message plus a copy at each strided side, which lengthens
    /// the whole path.
    MessageCost packed(const Message& message) {
        if (question_.machine.copies.empty()) {
            throw CannotExpress("the profile of " + question_.machine.name +
                                " has neither packing costs nor a copy rate");
        }
        Message contiguous = message;
        contiguous.layout = Layout::cc;
        MessageCost cost = paths(contiguous);
        if (message.layout != Layout::cn) {
            const Span packing = work_.copy(message.bytes, message.sent_block);
            cost.send = cost.send + packing;
            cost.full = cost.full + packing;
        }
        if (message.layout != Layout::nc) {
            const Span unpacking = work_.copy(message.bytes, message.received_block);
            cost.receive = cost.receive + unpacking;
            cost.full = cost.full + unpacking;
        }
        return cost;
    }

    const Question& question_;
    WorkCosts work_;
    Lookup lookup_;
};

/// Predicts the time of a schedule on a network whose mean link utilisation results from the
/// messages of the schedule.
class InNetwork {
  public:
    explicit InNetwork(const Question& question)
        : question_(question),
          pricing_(question),
          contention_(question),
          prepared_(question.schedule) {}

    /// Predicts without contention if the profile has no network.
    Prediction predict() {
        const double use = contention_.known() && !question_.least ? settled_use() : 0;
        Prediction prediction =
            adjusted(with_remarks(at_use(question_, use), pricing_.lookup()), start(), crowding());
        if (!contention_.known() && !question_.wires) {
            prediction.remarks.push_back("contention is not modelled: the profile of " +
                                         question_.machine.name + " describes no network");
        }
        return prediction;
    }

  private:
    /// Returns the factor by which schedules take longer if ranks take turns on cores: switching
    /// between ranks also costs time and caches. Lower bounds get its minimum.
    double crowding() const {
        const auto& measured = question_.machine.crowding;
        const machine::Link within =
            shares_memory(question_) ? machine::Link::same_process : machine::Link::same_node;
        if (measured.empty() || !crowd_of(question_.machine, question_.nodes,
                                          static_cast<int>(question_.schedule.size()), within)
                                     .takes_turns())
            return 1;
        const auto lower = [](const machine::Point& a, const machine::Point& b) {
            return a.seconds.median < b.seconds.median;
        };
        const auto [least, most] = std::minmax_element(measured.begin(), measured.end(), lower);
        if (question_.least)
            return least->seconds.median;
        Elements largest = 0;
        for (const Program& program : question_.schedule) {
            for (const BufferSpec& buffer : program.buffers)
                largest = std::max(largest, buffer.role == Role::scratch ? 0 : buffer.size);
        }
        return std::clamp(machine::at_size(measured, largest * question_.element_size).median,
                          least->seconds.median, most->seconds.median);
    }

    /// Returns the time to start a run whose ranks exchange messages.
    Seconds start() const {
        const bool any = std::ranges::any_of(question_.schedule, [](const Program& program) {
            return std::ranges::any_of(program.steps,
                                       [](const Step& step) { return step.verb == Verb::send; });
        });
        Seconds longest = 0;
        for (const machine::LinkCosts& link : question_.machine.links) {
            if (any && link.start && is_used(link.link))
                longest = std::max(longest, link.start->median);
        }
        return longest;
    }

    bool is_used(machine::Link link) const {
        if (question_.nodes.empty())
            return question_.machine.links.size() == 1 || link == machine::Link::other_node;
        return link == question_.within_node ||
               (link == machine::Link::other_node &&
                std::ranges::adjacent_find(question_.nodes, std::ranges::not_equal_to()) !=
                    question_.nodes.end());
    }

    static Prediction adjusted(Prediction prediction, Seconds start, double factor) {
        const auto adjust = [&](Seconds& time) { time = factor * (start + time); };
        for (Seconds* time : {&prediction.seconds, &prediction.low, &prediction.high})
            adjust(*time);
        for (Event& event : prediction.timeline.events)
            adjust(event.begin), adjust(event.end);
        adjust(prediction.timeline.duration);
        return prediction;
    }

    Prediction at_use(const Question& question, double use) {
        const auto price = [&](const Message& message) {
            MessageCost cost = pricing_(message);
            if (message.link == machine::Link::other_node)
                cost.full = cost.full + contention_.delay(message.bytes, use);
            return cost;
        };
        return critical_path(question, {price, false, true}, prepared_);
    }

    /// Returns the link utilisation that is consistent with the predicted run time. Higher
    /// utilisation makes the run longer, and a longer run lowers the utilisation: bisection finds
    /// the fixed point.
    double settled_use() {
        Question quick = question_;
        quick.timeline = false;
        constexpr double close = .01;
        const auto use_after = [&](double use) {
            return contention_.use(at_use(quick, use).seconds);
        };
        double low = 0, high = std::min(.99, use_after(0));
        while (high - low > close) {
            const double use = (low + high) / 2;
            (use_after(use) > use ? low : high) = use;
        }
        return high;
    }

    const Question& question_;
    Pricing pricing_;
    const Contention contention_;
    const PreparedSchedule prepared_;
};

} // namespace

Prediction p3pc_extended(const Question& question) {
    return InNetwork(question).predict();
}

} // namespace sextant::model
