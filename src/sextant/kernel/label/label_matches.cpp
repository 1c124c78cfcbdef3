// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/label/label_matches.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace sextant::kernel {

void PairCounts::add(const std::uint32_t* a, const std::uint32_t* b, Elements voxels) {
    for (Elements begin = 0; begin < voxels;) {
        const std::uint32_t first = a[begin], second = b[begin];
        Elements end = begin + 1;
        while (end < voxels && a[end] == first && b[end] == second)
            ++end;
        if (first != 0 || second != 0)
            counts_[std::uint64_t{first} << 32 | second] += end - begin;
        begin = end;
    }
}

std::vector<LabelMatch> matches_of(std::span<const PairCount> counts, int block_a, int block_b) {
    std::unordered_map<std::uint64_t, Elements> voxels_of_a, voxels_of_b;
    for (const PairCount& count : counts) {
        voxels_of_a[count.a] += count.voxels;
        voxels_of_b[count.b] += count.voxels;
    }
    std::vector<LabelMatch> matches;
    for (const PairCount& count : counts) {
        if (count.a == 0 || count.b == 0)
            continue;
        const Elements either = voxels_of_a[count.a] + voxels_of_b[count.b] - count.voxels;
        matches.push_back({block_a, block_b, count.a, count.b, count.voxels, either});
    }
    return matches;
}

ObjectJoins::ObjectJoins(std::span<const int> block_of) : block_of_(block_of) {
    objects_.add(std::ssize(block_of));
}

void ObjectJoins::sort_best_first(std::vector<LabelMatch>& matches, MatchScore score) {
    const auto key = [score](const LabelMatch& match) {
        return std::tuple(-value(match, score), match.block_a, match.block_b, match.a, match.b);
    };
    std::ranges::sort(matches, {}, key);
}

std::vector<int>& ObjectJoins::blocks_of(Label object) {
    std::vector<int>& blocks = blocks_[object];
    if (blocks.empty())
        blocks.push_back(block_of_[static_cast<std::size_t>(object)]);
    return blocks;
}

MatchOutcome ObjectJoins::join(Elements a, Elements b) {
    const Label first = objects_.root(a), second = objects_.root(b);
    if (first == second)
        return MatchOutcome::joined;
    const auto [less, more] = [&] {
        std::vector<int>*x = &blocks_of(first), *y = &blocks_of(second);
        return x->size() < y->size() ? std::pair(x, y) : std::pair(y, x);
    }();
    if (std::ranges::any_of(
            *less, [many = more](int block) { return std::ranges::binary_search(*many, block); }))
        return MatchOutcome::conflict;
    for (const int block : *less)
        more->insert(std::ranges::lower_bound(*more, block), block);
    std::vector<int> all = std::move(*more);
    blocks_.erase(first);
    blocks_.erase(second);
    objects_.join(first, second);
    blocks_[objects_.root(first)] = std::move(all);
    return MatchOutcome::joined;
}

} // namespace sextant::kernel
