// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/circuits.hpp"

#include "sextant/core/error.hpp"

#include <vector>

#include <fmt/format.h>

namespace sextant::scan {

std::string_view name(Form form) {
    switch (form) {
    case Form::inclusive:
        return "inclusive";
    case Form::exclusive:
        return "exclusive";
    case Form::both:
        return "both";
    }
    return "";
}

void check(const Task& task) {
    if (task.ranks < 1)
        throw InvalidTask(fmt::format("{} ranks: expected 1 or more", task.ranks));
    if (task.elements < 0)
        throw InvalidTask(fmt::format("{} values per rank: expected 0 or more", task.elements));
    if (task.form == Form::both)
        throw InvalidTask("a scan has one result: expected inclusive or exclusive, not both");
}

void Line::give(int to, const Region& value) {
    if (exists(to))
        builder_.send(to, value);
}

Region Line::receive(int from, const Region& like) {
    if (!exists(from))
        return {};
    const Region received = builder_.scratch(like.elements());
    builder_.receive(from, received);
    return received;
}

Region Line::combine(const Region& before, const Region& after) {
    const Region sum = builder_.scratch(after.elements());
    builder_.fold(sum, {before, after});
    return sum;
}

Region Line::take(int from, const Region& value) {
    if (!exists(from))
        return value;
    const Region slot = receive(from, value); // used only here, so the sum may overwrite the slot
    builder_.fold(slot, {slot, value});
    return slot;
}

Prefixes serial(Line& line, const Region& value, Form at_last) {
    Prefixes own{{}, value};
    if (line.rank() > 0) {
        line.round(line.rank() - 1);
        own.before = line.receive(line.rank() - 1, value);
        const bool needed = line.rank() + 1 < line.ranks() || at_last != Form::exclusive;
        own.through = needed ? line.combine(own.before, value) : Region{};
    }
    line.round(line.rank());
    line.give(line.rank() + 1, own.through);
    return own;
}

Region kogge_stone(Line& line, Region value) {
    int round = 0;
    for (int distance = 1; distance < line.ranks(); distance *= 2) {
        line.round(round++);
        line.give(line.rank() + distance, value);
        value = line.take(line.rank() - distance, value);
    }
    return value;
}

Region sklansky(Line& line, Region value) {
    int round = 0;
    for (int length = 1; length < line.ranks(); length *= 2) {
        const int block = line.rank() / length, next = (block + 1) * length;
        line.round(round++);
        if (block % 2 == 1) {
            value = line.take(block * length - 1, value);
        } else if (line.rank() == next - 1) {
            for (int other = next; other < next + length; ++other)
                line.give(other, value);
        }
    }
    return value;
}

Region brent_kung(Line& line, Region value) {
    // True if this rank is the last of a block of 2 `length` ranks (ends_pair), or the last of the
    // block's first half (ends_first).
    const auto ends_pair = [&](int length) { return (line.rank() + 1) % (2 * length) == 0; };
    const auto ends_first = [&](int length) { return (line.rank() + 1) % (2 * length) == length; };
    int round = 0, length = 1;
    for (; length < line.ranks(); length *= 2) {
        line.round(round++);
        if (ends_first(length))
            line.give(line.rank() + length, value);
        else if (ends_pair(length))
            value = line.take(line.rank() - length, value);
    }
    for (length /= 4; length >= 1; length /= 2) {
        line.round(round++);
        if (ends_pair(length))
            line.give(line.rank() + length, value);
        else if (ends_first(length))
            value = line.take(line.rank() - length, value);
    }
    return value;
}

Region han_carlson(Line& line, Region value) {
    const bool odd = line.rank() % 2 == 1;
    int round = 0;
    line.round(round++);
    if (odd)
        value = line.take(line.rank() - 1, value);
    else
        line.give(line.rank() + 1, value);
    for (int distance = 2; distance < line.ranks(); distance *= 2) {
        line.round(round++);
        if (!odd)
            continue;
        line.give(line.rank() + distance, value);
        value = line.take(line.rank() - distance, value);
    }
    line.round(round);
    if (odd)
        line.give(line.rank() + 1, value);
    else
        value = line.take(line.rank() - 1, value);
    return value;
}

namespace {

/// The ranks of a part of the circuit. They are `stride` apart, except that the last may be closer.
struct Members {
    int first, stride, size, last;

    int at(int i) const { return i == size - 1 ? last : first + i * stride; }
    Members front(int count) const { return {first, stride, count, at(count - 1)}; }
    Members after(int count) const { return {at(count), stride, size - count, last}; }
    /// The second member of each pair and, if the number of members is odd, the last member.
    Members seconds() const { return {at(1), 2 * stride, (size + 1) / 2, last}; }
};

Region scan(Line& line, const Members& members, int i, int k, int round, Region value);

/// Scans the members by LF_0; this rank is member i.
Region in_halves(Line& line, const Members& members, int i, int round, Region value) {
    const int half = (members.size + 1) / 2;
    const Members front = members.front(half), rest = members.after(half);
    const int join = round + ceil_log2(half);
    if (i >= half) {
        value = scan(line, rest, i - half, 0, round, value);
        line.round(join);
        return line.take(front.last, value);
    }
    value = scan(line, front, i, 1, round, value);
    line.round(join);
    for (int other = 0; i == half - 1 && other < rest.size; ++other)
        line.give(rest.at(other), value);
    return value;
}

/// Scans the members by LF_k with k > 0.
Region in_pairs(Line& line, const Members& members, int i, int k, int round, Region value) {
    const bool second = i % 2 == 1, left_over = !second && i == members.size - 1;
    line.round(round);
    if (second)
        value = line.take(members.at(i - 1), value);
    else if (!left_over)
        line.give(members.at(i + 1), value);
    if (second || left_over)
        value = scan(line, members.seconds(), i / 2, k - 1, round + 1, value);
    line.round(round + ceil_log2(members.size) + k - 1);
    if (second && i + 1 < members.size - 1)
        line.give(members.at(i + 1), value);
    else if (!second && !left_over && i > 0)
        value = line.take(members.at(i - 1), value);
    return value;
}

Region scan(Line& line, const Members& members, int i, int k, int round, Region value) {
    if (members.size == 1)
        return value;
    return k == 0 ? in_halves(line, members, i, round, value)
                  : in_pairs(line, members, i, k, round, value);
}

} // namespace

Region ladner_fischer(Line& line, const Region& value, int k) {
    if (k < 0)
        throw InvalidTask(fmt::format("Ladner-Fischer with k = {}: expected 0 or more", k));
    return scan(line, {0, 1, line.ranks(), line.ranks() - 1}, line.rank(), k, 0, value);
}

namespace {

/// A node of the tree: ranks first ... last − 1; its left child is first ... middle − 1. The last
/// rank of a node holds its sum.
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

/// The values that a rank holds after the upward phase.
struct Sums {
    std::vector<Region> left; ///< by node: sum of its left child, if this rank holds it
    Region own;               ///< sum of the highest node that this rank holds
};

Sums sums_going_up(Line& line, const std::vector<Node>& nodes, const Region& value, bool total) {
    Sums sums{std::vector<Region>(nodes.size()), value};
    for (std::size_t i = nodes.size(); i-- > 0;) {
        const Node& node = nodes[i];
        line.round(node.height() - 1);
        if (line.rank() == node.left_holder())
            line.give(node.holder(), sums.own);
        if (line.rank() != node.holder())
            continue;
        sums.left[i] = line.receive(node.left_holder(), value);
        // The sum up to the last rank is needed only if `total` is set.
        if (node.last < line.ranks() || total)
            sums.own = line.combine(sums.left[i], sums.own);
    }
    return sums;
}

/// The combination of all values before this rank.
Region prefixes_going_down(Line& line, const std::vector<Node>& nodes, const Region& value,
                           const Sums& sums) {
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
    const Sums sums = sums_going_up(line, nodes, value, total);
    const Region before = prefixes_going_down(line, nodes, value, sums);
    const bool knows_total = total && line.rank() == line.ranks() - 1;
    return {before, knows_total ? sums.own : Region{}};
}

} // namespace sextant::scan
