// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/c3.hpp"

#include "sextant/model/message.hpp"
#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/trace.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::model {

namespace {

/// The messages that one processor sends, or those that one processor receives.
struct Load {
    double messages = 0, packets = 0, longest = 0;

    void add(double k) {
        messages += 1;
        packets += k;
        longest = std::max(longest, k);
    }
    void scale(double factor) { messages *= factor, packets *= factor; }
};

struct Processor {
    Load sent, received;
};

/// S_i of Figure 3: the charge for sending.
Units sending(const Load& load, double h, const machine::C3& machine) {
    if (load.messages == 0)
        return {};
    const bool wormhole = machine.routing == machine::Routing::wormhole;
    if (machine.blocking_sends) {
        return {2 * load.messages, 2 * h * load.messages + (wormhole ? h : 0),
                wormhole ? load.packets : h * load.packets};
    }
    return {load.messages, wormhole ? h : 0, load.packets + (wormhole ? 0 : h * load.longest)};
}

/// R_i of Figure 3: the charge for receiving. With blocking sends, the receiver acknowledges every
/// message with another message.
Units receiving(const Load& load, double h, const machine::C3& machine) {
    if (load.messages == 0)
        return {};
    if (!machine.blocking_sends)
        return {0, 0, load.packets};
    const bool wormhole = machine.routing == machine::Routing::wormhole;
    return {load.messages, h * load.messages + (wormhole ? h : 0),
            wormhole ? load.packets : h * load.packets};
}

std::map<int, Processor> loads(const Superstep& superstep, double packet, Counting counting) {
    std::map<int, Processor> processors;
    for (const auto& [pair, bytes] : superstep.messages) {
        const double parts = static_cast<double>(bytes) / packet;
        const double k = counting == Counting::exact ? std::ceil(parts) : parts;
        processors[pair.from].sent.add(k);
        processors[pair.to].received.add(k);
    }
    const auto others = static_cast<double>(processors.size()) - 1;
    if (counting == Counting::exact || others < 2)
        return processors;
    for (auto& [rank, processor] : processors) {
        for (Load* load : {&processor.sent, &processor.received}) {
            if (load->messages == others)
                load->scale((others + 1) / others);
        }
    }
    return processors;
}

} // namespace

Units charge(const Superstep& superstep, const machine::C3& machine, Counting counting) {
    if (superstep.messages.empty())
        return {};
    const auto [h, b] = superstep.wiring;
    const double s = machine.setup.median;
    Units longest;
    Load sent, received;
    for (const auto& [rank, processor] :
         loads(superstep, static_cast<double>(machine.packet), counting)) {
        const Units own =
            sending(processor.sent, h, machine) + receiving(processor.received, h, machine);
        if (own.total(s) > longest.total(s))
            longest = own;
        sent.messages += processor.sent.messages;
        sent.packets += processor.sent.packets;
        received.messages += processor.received.messages;
    }
    const double mean_packets = sent.packets / sent.messages;
    const double pairs = std::max(sent.messages, received.messages);
    const double over_links = mean_packets * std::ceil(pairs / b);
    const double at_processors = mean_packets * std::ceil(pairs / superstep.processors) * h;
    return longest + Units{0, 0, over_links + at_processors};
}

namespace {

/// Returns the cost of a round, which is that of its most expensive submachine, because submachines
/// work at the same time.
Units communication(int number, const Round& round, const machine::Topology& machine,
                    const machine::C3& c3, const C3Reading& reading) {
    Units dearest;
    for (auto& [place, messages] : by_submachine(number, round, machine, reading)) {
        const Superstep superstep{wiring_of(place, machine, c3, reading),
                                  place.width * place.height, messages};
        const Units own = charge(superstep, c3, reading.counting);
        if (own.total(c3.setup.median) > dearest.total(c3.setup.median))
            dearest = own;
    }
    return dearest;
}

double computation(const Round& round, const machine::C3& c3, Counting counting) {
    double most = 0;
    for (const auto& [rank, bytes] : round.touched) {
        const double units = bytes / static_cast<double>(c3.packet);
        most = std::max(most, counting == Counting::exact ? std::ceil(units) : units);
    }
    return most;
}

/// Places rounds one after another on the timeline; in each, first the messages, then the work.
Trace timeline_of(const Question& question, const std::vector<RoundCharge>& rounds,
                  const machine::C3& c3, Seconds duration) {
    std::map<int, std::pair<Seconds, Seconds>> begins; // start of messages and of work
    std::map<int, Seconds> ends;
    Seconds now = 0;
    for (const RoundCharge& round : rounds) {
        begins[round.round].first = now;
        now += round.communication.total(c3.setup.median) * c3.seconds_per_unit.median;
        begins[round.round].second = now;
        now += round.computation * c3.seconds_per_computation_unit.median;
        ends[round.round] = now;
    }
    Timeline timeline;
    for (int rank = 0; rank < static_cast<int>(question.schedule.size()); ++rank) {
        const Program& program = question.schedule[static_cast<std::size_t>(rank)];
        for (int i = 0; i < static_cast<int>(program.steps.size()); ++i) {
            const Step& step = program.steps[static_cast<std::size_t>(i)];
            const auto [messages, work] = begins.at(step.round);
            const bool moves = is_message(step.verb);
            timeline.add(program, {rank, i}, activity_of(step.verb), moves ? messages : work,
                         moves ? work : ends.at(step.round));
        }
    }
    return timeline.finish(duration);
}

} // namespace

std::vector<RoundCharge> charges(const Question& question, const C3Reading& reading) {
    if (!question.machine.c3) {
        throw CannotExpress(
            fmt::format("the profile of {} has no C3 parameters", question.machine.name));
    }
    const machine::C3& c3 = *question.machine.c3;
    std::vector<RoundCharge> all;
    try {
        const machine::Topology machine = machine_for(question);
        for (const auto& [number, round] : rounds_of(question)) {
            all.push_back({number, communication(number, round, machine, c3, reading),
                           computation(round, c3, reading.counting)});
        }
    } catch (const std::invalid_argument& error) { // the topology does not allow this size
        throw CannotExpress(error.what());
    }
    return all;
}

Prediction c3(const Question& question) {
    return c3(question, {});
}

Prediction c3(const Question& question, const C3Reading& reading) {
    const std::vector<RoundCharge> rounds = charges(question, reading);
    if (question.least)
        return {}; // the program of one rank does not determine the size of its submachines
    const machine::C3& c3 = *question.machine.c3;
    Span sum;
    for (const RoundCharge& round : rounds) {
        const auto units = [&](double s, double seconds_per_unit) {
            return round.communication.total(s) * seconds_per_unit;
        };
        const Span messages(units(c3.setup.median, c3.seconds_per_unit.median),
                            units(c3.setup.low, c3.seconds_per_unit.low),
                            units(c3.setup.high, c3.seconds_per_unit.high));
        sum = sum + messages + Span(c3.seconds_per_computation_unit) * round.computation;
    }
    Prediction prediction{sum.median, sum.low, sum.high, {}, {}};
    if (question.timeline)
        prediction.timeline = timeline_of(question, rounds, c3, sum.median);
    const int processors = c3.topology.processors();
    if (processors != static_cast<int>(question.schedule.size())) {
        prediction.remarks.push_back(fmt::format(
            "{} has {} processors; the prediction is for a machine of this kind with {} processors",
            question.machine.name, processors, question.schedule.size()));
    }
    return prediction;
}

namespace {

using machine::Shape;
using machine::Topology;

/// Throws if a rank sends data that depends on a message received in the same round.
void require_supersteps(const Program& program, int rank) {
    const Dependences dependences(program);
    constexpr int never = std::numeric_limits<int>::min();
    std::vector<int> heard(program.steps.size(),
                           never); // latest round of the messages that each step depends on
    for (int i = 0; i < static_cast<int>(program.steps.size()); ++i) {
        const Step& step = program.steps[static_cast<std::size_t>(i)];
        int latest = heard[static_cast<std::size_t>(i)];
        if (step.verb == Verb::send && latest >= step.round) {
            throw CannotExpress(
                fmt::format("C3 charges supersteps, but rank {} sends data in round {} that "
                            "depends on a message received in round {}",
                            rank, step.round, latest));
        }
        if (step.verb == Verb::receive)
            latest = std::max(latest, step.round);
        for (const Dependences::Edge& edge : dependences.after(i))
            heard[edge.step] = std::max(heard[edge.step], latest);
    }
}

bool is_plane(const Topology& machine) {
    return machine.shape == Shape::mesh && machine.extents.size() == 2;
}

bool is_solid(const Topology& machine) {
    return machine.extents.size() > 1 && !is_plane(machine);
}

Submachine whole(const Topology& machine) {
    if (is_plane(machine))
        return {0, 0, machine.extents[0], machine.extents[1]};
    return {0, 0, machine.processors(), 1};
}

/// Returns the smallest rectangle that contains the processors of a group.
Submachine hull(const std::map<Pair, Bytes>& messages, int columns) {
    int left = columns, right = 0, top = std::numeric_limits<int>::max(), bottom = 0;
    for (const auto& [pair, bytes] : messages) {
        for (int rank : {pair.from, pair.to}) {
            left = std::min(left, rank % columns), right = std::max(right, rank % columns);
            top = std::min(top, rank / columns), bottom = std::max(bottom, rank / columns);
        }
    }
    return {left, top, right - left + 1, bottom - top + 1};
}

/// Cuts the machine into submachines of width × height and returns the one that contains the
/// rectangle `inner`, if any.
std::optional<Submachine> holder(const Submachine& inner, int width, int height) {
    const int i = inner.x / width, j = inner.y / height;
    if (inner.x + inner.width > (i + 1) * width || inner.y + inner.height > (j + 1) * height)
        return std::nullopt;
    return Submachine{i * width, j * height, width, height};
}

/// Returns the sizes of equal submachines into which a machine can be cut, the smallest first;
/// among equal areas, the one closest to a square first.
std::vector<Submachine> cuttings(const Submachine& machine) {
    std::vector<Submachine> sizes;
    for (int width = 1; width <= machine.width; ++width) {
        for (int height = 1; height <= machine.height; ++height) {
            if (machine.width % width == 0 && machine.height % height == 0)
                sizes.push_back({0, 0, width, height});
        }
    }
    std::stable_sort(sizes.begin(), sizes.end(), [](const Submachine& a, const Submachine& b) {
        const auto rank = [](const Submachine& s) {
            return std::pair(s.width * s.height, std::abs(s.width - s.height));
        };
        return rank(a) < rank(b);
    });
    return sizes;
}

/// Cuts the machine into the smallest equal submachines that are large enough for each group to fit
/// into one. Returns the submachine of each group.
std::map<int, Submachine> submachines(const Round& round, const Topology& machine) {
    const Submachine all = whole(machine);
    std::map<int, Submachine> hulls;
    for (const auto& [group, messages] : round.messages)
        hulls[group] = hull(messages, all.width);
    for (const Submachine& size : cuttings(all)) {
        std::map<int, Submachine> found;
        for (const auto& [group, inner] : hulls) {
            if (const auto outer = holder(inner, size.width, size.height))
                found[group] = *outer;
        }
        if (found.size() == hulls.size())
            return found;
    }
    return {};
}

} // namespace

std::map<int, Round> rounds_of(const Question& question) {
    std::map<int, Round> rounds;
    for (int rank = 0; rank < static_cast<int>(question.schedule.size()); ++rank) {
        const Program& program = question.schedule[static_cast<std::size_t>(rank)];
        require_supersteps(program, rank);
        for (const Step& step : program.steps) {
            Round& round = rounds[step.round];
            if (step.verb == Verb::send) {
                round.messages[step.group][{rank, step.peer}] += bytes_of(question, program, step);
            } else if (step.verb != Verb::receive) {
                for (const Region& region : program.regions_of(step)) {
                    const Bytes size = program.element_size(region.buffer, question.element_size);
                    round.touched[rank] += static_cast<double>(region.elements() * size);
                }
            }
        }
    }
    return rounds;
}

Topology machine_for(const Question& question) {
    const machine::C3& c3 = *question.machine.c3;
    const int ranks = static_cast<int>(question.schedule.size());
    if (c3.topology.processors() == ranks)
        return c3.topology;
    if (is_solid(c3.topology)) {
        throw CannotExpress(fmt::format(
            "the {} of {} has {} processors, but the schedule has {} ranks",
            name(c3.topology.shape), question.machine.name, c3.topology.processors(), ranks));
    }
    if (!is_plane(c3.topology))
        return c3.topology.scaled(ranks);
    int height = static_cast<int>(std::sqrt(ranks));
    while (ranks % height != 0)
        --height;
    return {Shape::mesh, {ranks / height, height}};
}

std::map<Submachine, std::map<Pair, Bytes>>
by_submachine(int number, const Round& round, const Topology& machine, const C3Reading& reading) {
    const bool ungrouped = round.messages.size() == 1 && round.messages.contains(0);
    std::map<int, Submachine> found;
    if (!reading.submachine && !ungrouped && !is_solid(machine))
        found = submachines(round, machine);
    std::map<Submachine, std::map<Pair, Bytes>> shared;
    for (const auto& [group, messages] : round.messages) {
        const Submachine place = reading.submachine ? reading.submachine(number, group)
                                 : found.empty()    ? whole(machine)
                                                    : found.at(group);
        for (const auto& [pair, bytes] : messages)
            shared[place][pair] += bytes;
    }
    return shared;
}

machine::Wiring wiring_of(const Submachine& submachine, const Topology& machine,
                          const machine::C3& c3, const C3Reading& reading) {
    const int processors = submachine.width * submachine.height;
    const Topology part = is_plane(machine)
                              ? Topology{Shape::mesh, {submachine.width, submachine.height}}
                          : is_solid(machine) ? machine
                                              : machine.scaled(processors);
    if (!reading.published_distances)
        return machine::exact_wiring(part);
    machine::Wiring wiring = machine::published_wiring(part);
    for (const machine::C3::Distance& known : c3.published) {
        if (known.width == submachine.width && known.height == submachine.height)
            wiring.latency = known.latency;
    }
    return wiring;
}

} // namespace sextant::model
