// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/corner_turn.hpp"

#include <algorithm>
#include <numeric>

namespace sextant::collective {

namespace {

/// Where strips of an image begin that lie side by side, and where the last ends.
std::vector<Elements> starts(Elements size, int ranks, const std::vector<int>& strips) {
    std::vector<Elements> starts{0};
    for (const int i : strips)
        starts.push_back(starts.back() + size * (i + 1) / ranks - size * i / ranks);
    return starts;
}

/// Where a run of strips lies among them.
struct Extent {
    Elements first, length;
};

Extent extent(const std::vector<int>& strips, const std::vector<Elements>& starts, Run run) {
    const auto place = [&](int strip) {
        return static_cast<std::size_t>(std::lower_bound(strips.begin(), strips.end(), strip) -
                                        strips.begin());
    };
    const Elements first = starts[place(run.first)];
    return {first, starts[place(run.last) + 1] - first};
}

} // namespace

std::vector<int> all_ranks(int ranks) {
    std::vector<int> all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

Blocks blocks_at_first(const Grid& grid, int rank) {
    return {{rank}, all_ranks(grid.ranks())};
}

Blocks blocks_at_last(const Grid& grid, int rank) {
    return {all_ranks(grid.ranks()), {rank}};
}

std::vector<Run> common_runs(std::span<const int> a, std::span<const int> b) {
    std::vector<Run> runs;
    bool continues = false;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        if (a[i] != b[j]) {
            a[i] < b[j] ? ++i : ++j;
            continues = false;
            continue;
        }
        if (continues)
            runs.back().last = a[i];
        else
            runs.push_back({a[i], a[i]});
        continues = true;
        ++i, ++j;
    }
    return runs;
}

PackedBlocks::PackedBlocks(const Grid& grid, Blocks blocks)
    : blocks_(std::move(blocks)),
      row_starts_(starts(grid.height, grid.ranks(), blocks_.from)),
      column_starts_(starts(grid.width, grid.ranks(), blocks_.to)) {}

std::vector<Region> PackedBlocks::regions(std::span<const Run> from, std::span<const Run> to,
                                          int buffer) const {
    const Elements width = column_starts_.back();
    std::vector<Region> regions;
    for (const Run& rows : from) {
        const Extent down = extent(blocks_.from, row_starts_, rows);
        for (const Run& columns : to) {
            const Extent across = extent(blocks_.to, column_starts_, columns);
            const Elements first = down.first * width + across.first;
            if (across.length == width)
                regions.push_back(block(buffer, first, down.length * width));
            else
                regions.push_back({buffer, first, across.length, width, down.length});
        }
    }
    return regions;
}

} // namespace sextant::collective
