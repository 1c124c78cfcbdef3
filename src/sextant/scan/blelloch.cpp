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

/// What a rank holds after the way up.
struct Sums {
    std::vector<Region> left; ///< by node: what its left child held, at its holder
    Region own;               ///< the sum of the highest node that this rank holds
};

Sums way_up(Line& line, const std::vector<Node>& nodes, const Region& value, bool total) {
    Sums sums{std::vector<Region>(nodes.size()), value};
    for (std::size_t i = nodes.size(); i-- > 0;) {
        const Node& node = nodes[i];
        line.round(node.height() - 1);
        if (line.rank() == node.left_holder())
            line.give(node.holder(), sums.own);
        if (line.rank() != node.holder())
            continue;
        sums.left[i] = line.receive(node.left_holder(), value);
        // What reaches up to the last rank is part of the total, and of nothing else.
        if (node.last < line.ranks() || total)
            sums.own = line.combine(sums.left[i], sums.own);
    }
    return sums;
}

/// What lies before this rank.
Region way_down(Line& line, const std::vector<Node>& nodes, const Region& value, const Sums& sums) {
    Region before;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const Node& node = nodes[i];
        line.round(2 * ceil_log2(line.ranks()) - node.height());
        if (line.rank() == node.holder()) {
            const bool nothing_before = node.first == 0;
            if (!nothing_before)
                line.give(node.left_holder(), before);
            before = nothing_before ? sums.left[i] : line.combine(before, sums.left[i]);
        } else if (line.rank() == node.left_holder() && node.first > 0) {
            before = line.receive(node.holder(), value);
        }
    }
    return before;
}

} // namespace

Prefixes blelloch(Line& line, const Region& value, bool total) {
    const std::vector<Node> nodes = nodes_above(line.rank(), line.ranks());
    const Sums sums = way_up(line, nodes, value, total);
    const Region before = way_down(line, nodes, value, sums);
    const bool knows_total = total && line.rank() == line.ranks() - 1;
    return {before, knows_total ? sums.own : Region{}};
}

} // namespace sextant::scan
