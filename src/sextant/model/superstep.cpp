// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/superstep.hpp"

#include <algorithm>
#include <cmath>

namespace sextant::model {

namespace {

/// What one processor sends, or receives.
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

/// Figure 3: S_i.
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

/// Figure 3: R_i. A confirmation goes back for every message of a blocking send.
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

} // namespace sextant::model
