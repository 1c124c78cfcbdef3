// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/blelloch.hpp"

#include "sextant/scan/logarithm.hpp"

#include <vector>

namespace sextant::scan {

namespace {

/// A node of the tree: ranks first ... last − 1, the left child up to middle − 1. The last rank of
/// a node holds what belongs to it.
struct Node {
    int first, middle, last;

    int holder() const { return last - 1; }
    int left_holder() const { return middle - 1; }
    int height() const { return ceil_log2(last - first); }
};

/// The inner nodes above a rank, the root first.
std::vector<Node> nodes_above(int rank, int ranks) {
    std::vector<Node> nodes;
    for (int first = 0, last = ranks; last - first > 1;) {
        const auto size = static_cast<unsigned>(last - first);
        const int middle = first + static_cast<int>(std::bit_floor(size - 1));
        nodes.push_back({first, middle, last});
        (rank < middle ? last : first) = middle;
    }
    return nodes;
}

} // namespace

Prefixes blelloch(Line& line, const Region& value, bool total) {
    const int rank = line.rank(), ranks = line.ranks();
    const std::vector<Node> nodes = nodes_above(rank, ranks);
    std::vector<Region> left(nodes.size()); // what the left child of a node held
    Region sum = value;
    for (std::size_t i = nodes.size(); i-- > 0;) {
        const Node& node = nodes[i];
        line.round(node.height() - 1);
        if (rank == node.left_holder())
            line.give(node.holder(), sum);
        if (rank != node.holder())
            continue;
        left[i] = line.receive(node.left_holder(), value);
        if (node.last < ranks || total)
            sum = line.combine(left[i], sum);
    }
    Region before;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const Node& node = nodes[i];
        line.round(2 * ceil_log2(ranks) - node.height());
        if (rank == node.holder() && node.first == 0) {
            before = left[i];
        } else if (rank == node.holder()) {
            line.give(node.left_holder(), before);
            before = line.combine(before, left[i]);
        } else if (rank == node.left_holder() && node.first > 0) {
            before = line.receive(node.holder(), value);
        }
    }
    return {before, total && rank == ranks - 1 ? sum : Region{}};
}

} // namespace sextant::scan
