// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/contention.hpp"

#include "sextant/machine/topology.hpp"
#include "sextant/model/message.hpp"

#include <fmt/format.h>

namespace sextant::model {

namespace {

/// The links of an array, one for each direction.
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
        throw CannotExpress(fmt::format("the network of {} is a {}: contention is known for meshes "
                                        "and tori",
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

} // namespace sextant::model
