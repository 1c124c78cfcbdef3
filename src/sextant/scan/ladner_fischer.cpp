// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/ladner_fischer.hpp"

#include "sextant/core/error.hpp"
#include "sextant/scan/logarithm.hpp"

#include <fmt/format.h>

namespace sextant::scan {

namespace {

/// The ranks that a part of the circuit is on. They lie `stride` apart, but the last may be nearer.
struct Members {
    int first, stride, size, last;

    int at(int i) const { return i == size - 1 ? last : first + i * stride; }
    Members front(int count) const { return {first, stride, count, at(count - 1)}; }
    Members after(int count) const { return {at(count), stride, size - count, last}; }
    /// The second of each pair, and what is left over.
    Members seconds() const { return {at(1), 2 * stride, (size + 1) / 2, last}; }
};

Region scan(Line& line, const Members& members, int i, int k, int round, Region value);

/// LF_0; this rank is the i-th of its members.
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

/// LF_k with k > 0.
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

} // namespace sextant::scan
