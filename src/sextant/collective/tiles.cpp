// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/tiles.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::collective {

namespace {

Tile rectangle(const Grid& grid, int first, int last) {
    const Tile a = tile(grid, first), b = tile(grid, last);
    return {a.x, a.y, b.x + b.width - a.x, b.y + b.height - a.y};
}

} // namespace

Region region_of(const Tile& outer, const Tile& inner, int buffer) {
    if (inner.elements() == 0)
        return block(buffer, 0, 0);
    const Elements first = (inner.y - outer.y) * outer.width + inner.x - outer.x;
    if (inner.width == outer.width)
        return block(buffer, first, inner.elements());
    return {buffer, first, inner.width, outer.width, inner.height};
}

Partition Partition::blocks(std::vector<Elements> lengths, std::vector<Elements> firsts) {
    Partition partition(near_square(static_cast<int>(lengths.size()), 0, 0));
    partition.total_ = std::accumulate(lengths.begin(), lengths.end(), Elements{0});
    if (firsts.empty()) {
        firsts.resize(lengths.size());
        std::exclusive_scan(lengths.begin(), lengths.end(), firsts.begin(), Elements{0});
    }
    partition.lengths_ = std::move(lengths);
    partition.firsts_ = std::move(firsts);
    return partition;
}

Partition Partition::pairs(int ranks, std::vector<Elements> lengths) {
    Partition partition(near_square(ranks, 0, 0));
    partition.total_ = std::accumulate(lengths.begin(), lengths.end(), Elements{0});
    partition.lengths_ = std::move(lengths);
    return partition;
}

Elements Partition::elements(int rank) const {
    return is_image() ? tile(grid_, rank).elements() : lengths_[static_cast<std::size_t>(rank)];
}

void append(std::vector<Region>& regions, const Region& region) {
    if (region.empty())
        return;
    const bool continues = !regions.empty() && regions.back().contiguous() && region.contiguous() &&
                           regions.back().buffer == region.buffer &&
                           regions.back().end() == region.offset;
    if (continues)
        regions.back() = block(region.buffer, regions.back().offset,
                               regions.back().elements() + region.elements());
    else
        regions.push_back(region);
}

PackedTiles::PackedTiles(const Partition& partition)
    : PackedTiles(partition, 0, partition.ranks()) {
    for (const int rank : ranks_)
        firsts_[static_cast<std::size_t>(rank)] = partition.first(rank);
}

PackedTiles::PackedTiles(const Partition& partition, int first, int last) : partition_(&partition) {
    const Grid& grid = partition.grid();
    last = std::min(last, grid.ranks());
    if (!partition.is_image()) {
        std::vector<int> ranks(static_cast<std::size_t>(std::max(0, last - first)));
        std::iota(ranks.begin(), ranks.end(), first);
        pack(std::move(ranks));
        return;
    }
    while (first < last) {
        const int whole_rows = first % grid.columns == 0 ? (last - first) / grid.columns : 0;
        const int row_end = (first / grid.columns + 1) * grid.columns;
        const int end =
            whole_rows > 0 ? first + whole_rows * grid.columns : std::min(last, row_end);
        const Tile found = rectangle(grid, first, end - 1);
        if (found.elements() > 0)
            rectangles_.push_back(found);
        first = end;
    }
}

PackedTiles::PackedTiles(const Partition& partition, const Submachine& machine)
    : partition_(&partition) {
    const Grid& grid = partition.grid();
    if (!partition.is_image()) {
        pack(ranks_of(grid, machine));
        return;
    }
    const int first = leader(grid, machine);
    const Tile found =
        rectangle(grid, first, first + (machine.rows - 1) * grid.columns + machine.columns - 1);
    if (found.elements() > 0)
        rectangles_.push_back(found);
}

/// Packs the blocks of ranks, in ascending order.
void PackedTiles::pack(std::vector<int> ranks) {
    ranks_ = std::move(ranks);
    Elements end = 0;
    for (const int rank : ranks_) {
        firsts_.push_back(end);
        end += partition_->elements(rank);
    }
}

Elements PackedTiles::elements() const {
    Elements sum = 0;
    for (const Tile& rectangle : rectangles_)
        sum += rectangle.elements();
    for (const int rank : ranks_)
        sum += partition_->elements(rank);
    return sum;
}

Region PackedTiles::place(const Tile& inner, int buffer) const {
    Elements start = 0;
    for (const Tile& outer : rectangles_) {
        if (!outer.holds(inner)) {
            start += outer.elements();
            continue;
        }
        Region region = sextant::collective::region_of(outer, inner, buffer);
        region.offset += start;
        return region;
    }
    throw std::logic_error("none of the packed rectangles contains the tile");
}

std::vector<Region> PackedTiles::regions_of(const PackedTiles& part, int buffer) const {
    std::vector<Region> regions;
    for (const Tile& rectangle : part.rectangles_)
        regions.push_back(place(rectangle, buffer));
    for (const int rank : part.ranks_)
        append(regions, region_of(rank, buffer));
    return regions;
}

Region PackedTiles::region_of(int rank, int buffer) const {
    if (partition_->is_image()) {
        const Tile wanted = tile(partition_->grid(), rank);
        return wanted.elements() > 0 ? place(wanted, buffer) : block(buffer, 0, 0);
    }
    const auto found = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
    if (found == ranks_.end() || *found != rank)
        throw std::logic_error("the packed tiles contain no block of this rank");
    return block(buffer, firsts_[static_cast<std::size_t>(found - ranks_.begin())],
                 partition_->elements(rank));
}

Submachine whole_machine(const Grid& grid) {
    return {0, 0, grid.columns, grid.rows};
}

int leader(const Grid& grid, const Submachine& machine) {
    return machine.row * grid.columns + machine.column;
}

bool contains(const Grid& grid, const Submachine& machine, int rank) {
    const int x = rank % grid.columns - machine.column, y = rank / grid.columns - machine.row;
    return x >= 0 && x < machine.columns && y >= 0 && y < machine.rows;
}

std::vector<int> ranks_of(const Grid& grid, const Submachine& machine) {
    std::vector<int> ranks;
    for (int y = 0; y < machine.rows; ++y) {
        for (int x = 0; x < machine.columns; ++x)
            ranks.push_back(leader(grid, machine) + y * grid.columns + x);
    }
    return ranks;
}

int group_of(const Grid& grid, const Submachine& machine) {
    if (machine == whole_machine(grid))
        return 0;
    const std::int64_t ranks = grid.ranks();
    if (ranks * ranks >= std::numeric_limits<int>::max()) {
        throw InvalidTask(
            fmt::format("{} ranks: expected at most 46340, because submachine numbers have 32 bits",
                        grid.ranks()));
    }
    const int size = (machine.rows - 1) * grid.columns + machine.columns - 1;
    return 1 + leader(grid, machine) * grid.ranks() + size;
}

Submachine submachine_of(const Grid& grid, int group) {
    if (group == 0)
        return whole_machine(grid);
    const int first = (group - 1) / grid.ranks(), size = (group - 1) % grid.ranks();
    return {first % grid.columns, first / grid.columns, 1 + size % grid.columns,
            1 + size / grid.columns};
}

std::vector<Submachine> cut_in_two(const Submachine& machine, double share) {
    if (machine.size() == 1)
        return {machine};
    const bool along_columns = machine.columns >= machine.rows;
    const int length = std::max(machine.columns, machine.rows);
    const int kept = std::clamp(static_cast<int>(std::lround(share * length)), 1, length - 1);
    Submachine first = machine, second = machine;
    (along_columns ? first.columns : first.rows) = kept;
    (along_columns ? second.columns : second.rows) = length - kept;
    (along_columns ? second.column : second.row) += kept;
    return {first, second};
}

std::vector<Submachine> into_squares(const Submachine& machine) {
    const auto parts = [](int side) { return static_cast<int>(std::lround(std::sqrt(side))); };
    const int across = parts(machine.columns), down = parts(machine.rows);
    std::vector<Submachine> squares;
    for (int j = 0; j < down; ++j) {
        for (int i = 0; i < across; ++i) {
            const int left = machine.columns * i / across, top = machine.rows * j / down;
            squares.push_back({machine.column + left, machine.row + top,
                               machine.columns * (i + 1) / across - left,
                               machine.rows * (j + 1) / down - top});
        }
    }
    return squares;
}

} // namespace sextant::collective
