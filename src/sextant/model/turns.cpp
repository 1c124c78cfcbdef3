// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/turns.hpp"

#include "sextant/model/message.hpp"

#include <algorithm>
#include <map>

namespace sextant::model {

namespace {

/// The node of each rank, counted from 0 on.
std::vector<int> numbered(std::span<const int> nodes, int ranks, bool threads) {
    std::vector<int> numbers;
    std::map<int, int> known;
    for (int rank = 0; rank < ranks; ++rank) {
        const int node = !nodes.empty() ? nodes[static_cast<std::size_t>(rank)]
                         : threads      ? 0
                                        : rank;
        numbers.push_back(known.try_emplace(node, static_cast<int>(known.size())).first->second);
    }
    return numbers;
}

} // namespace

Crowd crowd_of(const machine::Profile& machine, std::span<const int> nodes, int ranks,
               machine::Link within_node) {
    Crowd crowd{0, machine.cores};
    std::vector<int> count(static_cast<std::size_t>(ranks));
    for (const int node : numbered(nodes, ranks, within_node == machine::Link::same_process))
        crowd.ranks = std::max(crowd.ranks, ++count[static_cast<std::size_t>(node)]);
    return crowd;
}

Turns::Turns(const Question& question) {
    const machine::Link within =
        shares_memory(question) ? machine::Link::same_process : machine::Link::same_node;
    const auto ranks = static_cast<int>(question.schedule.size());
    const Crowd crowd = crowd_of(question.machine, question.nodes, ranks, within);
    if (!crowd.takes_turns())
        return;
    node_ = numbered(question.nodes, ranks, within == machine::Link::same_process);
    nodes_.assign(static_cast<std::size_t>(ranks), Node(static_cast<std::size_t>(crowd.cores)));
}

/// The core that was free last before the rank is ready, so that none stays free longer than need
/// be; else the first that will be.
Span Turns::begin(int rank, const Span& ready, const Span& cost) {
    if (node_.empty())
        return ready;
    Node& cores = nodes_[static_cast<std::size_t>(node_[static_cast<std::size_t>(rank)])];
    const auto better = [&](const Span& a, const Span& b) {
        const bool a_free = a.median <= ready.median, b_free = b.median <= ready.median;
        if (a_free != b_free)
            return a_free;
        return a_free ? a.median > b.median : a.median < b.median;
    };
    Span& core = *std::min_element(cores.begin(), cores.end(), better);
    const Span begin = later(ready, core);
    core = begin + cost;
    return begin;
}

} // namespace sextant::model
